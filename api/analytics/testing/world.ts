/**
 * Generates random histories for tests of queries: users who enter and leave geofences and beacons, as the store may
 * hold them. Times tie. Exits are missing, because a user may leave unseen. Entries are missing, because they may be
 * older than the retention. Rows are duplicated, in any order.
 */
import fc from 'fast-check';
import type { Analytics } from '../../../pipeline/ports.js';
import { deriveId } from '../../../schemas/ids.js';
import type { Event } from '../../../schemas/records.js';
import { exampleEvent, exampleEventBeacon, exampleEventGeofence } from '../../../schemas/testing/examples.js';
import { eventRows } from '../../../schemas/testing/rows.js';

interface Place {
  readonly kind: 'geofence' | 'beacon';
  readonly id: string;
  readonly tag: string | null;
  readonly externalId: string | null;
}

const tags = ['shop', 'a "quoted", tag', 'mär\nkt', null];

/** The places of generated histories. Some share a tag, one has none, and one has no external id. */
export const places: readonly Place[] = Array.from({ length: 6 }, (_, index) => ({
  kind: index < 4 ? 'geofence' : 'beacon',
  id: deriveId('place', `${index}`),
  tag: tags[index % 3] ?? null,
  externalId: index === 3 ? null : `store-${index}`,
}));

interface User {
  readonly id: string;
  readonly userId: string | null;
  readonly deviceId: string;
}

/** The first two are one person on two devices; the last two share a device. */
export const users: readonly User[] = [
  { id: deriveId('user', '0'), userId: 'ann', deviceId: 'phone' },
  { id: deriveId('user', '1'), userId: 'ann', deviceId: 'tablet' },
  { id: deriveId('user', '2'), userId: null, deviceId: 'anonymous' },
  { id: deriveId('user', '3'), userId: 'bob', deviceId: 'shared' },
  { id: deriveId('user', '4'), userId: 'eve', deviceId: 'shared' },
];

/** The transitions of one location. */
interface Step {
  readonly user: number;
  /** Quarters of an hour since the previous step; 0 is a tie. */
  readonly quarters: number;
  readonly transitions: readonly { readonly place: number; readonly isEntry: boolean }[];
}

/** Prefers small numbers, so that the same few users and places recur and times tie. */
const often = (max: number): fc.Arbitrary<number> =>
  fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(max) });

const step: fc.Arbitrary<Step> = fc.record({
  user: often(users.length - 1),
  quarters: fc.constantFrom(0, 0, 0, 1, 1, 1, 2, 4, 7, 30),
  transitions: fc.uniqueArray(fc.record({ place: often(places.length - 1), isEntry: fc.boolean() }), {
    maxLength: 3,
    selector: ({ place }) => place,
  }),
});

/** Times shortly before clock changes in Rome, St John's and the Chatham and Lord Howe Islands. */
const beginnings = [
  '2026-03-28T20:00Z',
  '2026-10-24T20:00Z',
  '2026-03-07T22:00Z',
  '2026-10-31T22:00Z',
  '2026-04-04T08:00Z',
  '2026-09-26T08:00Z',
];

interface History {
  readonly startMs: number;
  readonly steps: readonly Step[];
  /** Rows that are written twice, by index modulo their number. */
  readonly repeated: readonly number[];
}

/** Generates steps of a few users among the places, some of which are stored twice. */
export const history: fc.Arbitrary<History> = fc.record({
  startMs: fc.constantFrom(...beginnings).map((text) => Date.parse(text)),
  steps: fc.array(step, { minLength: 1, maxLength: 60 }),
  repeated: fc.array(fc.nat(), { maxLength: 8 }),
});

/** A quarter of an hour in ms. Times of a history are multiples of it, so that ties and bounds occur. */
export const quarterMs = 15 * 60_000;

/** Returns the events in the order they were applied. Receipt is recent, or the tables would drop the rows. */
export function eventsOf(
  { startMs, steps }: Pick<History, 'startMs' | 'steps'>,
  project: string,
  nowMs: number,
): Event[] {
  let createdAt = startMs;
  return steps.flatMap(({ user, quarters, transitions }, index) => {
    createdAt += quarters * quarterMs;
    const context = { project, user: users[user] as User, createdAt, receivedAt: nowMs + Math.floor(index / 3) };
    const locationId = index.toString(16).padStart(24, '0');
    return transitions.map(({ place, isEntry }) =>
      eventOf(places[place] as Place, isEntry, { ...context, locationId }),
    );
  });
}

interface EventContext {
  readonly project: string;
  readonly user: User;
  readonly createdAt: number;
  readonly receivedAt: number;
  readonly locationId: string;
}

/**
 * Returns the event of an entry or an exit. Its id derives from user, location and place, so a repeated row has the
 * same.
 */
export function eventOf(
  place: Place,
  isEntry: boolean,
  { project, user, createdAt, receivedAt, locationId }: EventContext,
): Event {
  const { id, tag, externalId } = place;
  const isGeofence = place.kind === 'geofence';
  return exampleEvent({
    id: deriveId('event', project, user.id, locationId, id),
    type: `user.${isEntry ? 'entered' : 'exited'}_${place.kind}`,
    project,
    createdAt,
    actualCreatedAt: receivedAt,
    locationId,
    user: { ...user, profile: null },
    geofence: isGeofence ? exampleEventGeofence({ id, tag, externalId }) : null,
    beacon: isGeofence ? null : exampleEventBeacon({ id, tag, externalId }),
  });
}

/** Stores the events newest first, and some of them twice. */
export async function storeEvents(
  analytics: Analytics,
  events: readonly Event[],
  repeated: readonly number[],
): Promise<void> {
  const insert = (some: readonly Event[]) => analytics.insert('events', eventRows(some));
  await insert(events.toReversed());
  if (events.length > 0) await insert(repeated.map((index) => events[index % events.length] as Event));
}
