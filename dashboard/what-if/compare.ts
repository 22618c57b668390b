/** What a replay changes: events that are added, removed and unchanged, their counts, and rows for a file. Pure. */
import type { Event, Replay } from '../../client/types';

/** Where an event is: only in the replay, only in the record, or in both. */
export type FoundIn = 'replay' | 'record' | 'both';

/** An event of a replay, and whether it is on record. */
export interface Found {
  readonly foundIn: FoundIn;
  readonly firstLocation: boolean;
  readonly event: Event;
}

/** What the page calls events by where they were found. */
export const foundInNames: Readonly<Record<FoundIn, string>> = {
  replay: 'Added',
  record: 'Removed',
  both: 'Unchanged',
};

type Summary = NonNullable<Replay['summary']>;
type Transitions = Summary['total'];

/** Returns how many events there are of a kind, over all transitions. */
export const countOf = (transitions: Transitions, foundIn: FoundIn): number =>
  transitions.entered[foundIn] + transitions.left[foundIn] + transitions.dwelled[foundIn];

interface PlaceChange {
  readonly name: string;
  readonly kind: 'geofence' | 'beacon';
  /** As recorded, and as the replay has them. */
  readonly before: number;
  readonly after: number;
  readonly added: number;
  readonly removed: number;
}

/** Returns the places, those that change most first. */
export function changesOf({ places }: Summary): readonly PlaceChange[] {
  return places
    .map(({ name, kind, transitions }): PlaceChange => {
      const [both, added, removed] = (['both', 'replay', 'record'] as const).map((each) => countOf(transitions, each));
      return { name, kind, before: both! + removed!, after: both! + added!, added: added!, removed: removed! };
    })
    .sort((one, other) => other.added + other.removed - (one.added + one.removed) || (one.name < other.name ? -1 : 1));
}

/** Returns the descriptions of places by kind and name, as far as events name them. A name is of machines. */
export function descriptionsOf(found: readonly Found[]): ReadonlyMap<string, string> {
  const places = found.flatMap(({ event: { geofence, beacon } }) => [
    geofence && { kind: 'geofence', ...geofence },
    beacon && { kind: 'beacon', ...beacon },
  ]);
  return new Map(
    places.flatMap((place) => (place ? [[`${place.kind} ${place.tag}/${place.externalId}`, place.description]] : [])),
  );
}

/** Orders events by time, newest first, then by id. */
export const byTime = (one: Found, other: Found): number =>
  Date.parse(other.event.createdAt) - Date.parse(one.event.createdAt) || (one.event._id < other.event._id ? 1 : -1);

/** A cell that would be a formula in a spreadsheet, by the rule of the server's files. */
export const formula = /^'*[=+\-@\t\r\n＝＋－＠]/;

function cellOf(value: unknown): string {
  const given = `${value ?? ''}`;
  const text = typeof value === 'string' && formula.test(given) ? `'${given}` : given;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const columns: readonly (readonly [name: string, read: (found: Found) => unknown])[] = [
  ['change', ({ foundIn }) => foundInNames[foundIn].toLowerCase()],
  ['firstLocation', ({ firstLocation }) => firstLocation],
  ['_id', ({ event }) => event._id],
  ['type', ({ event }) => event.type],
  ['createdAt', ({ event }) => event.createdAt],
  ['deviceId', ({ event }) => event.user?.deviceId],
  ['userId', ({ event }) => event.user?.userId],
  ['tag', ({ event }) => (event.geofence ?? event.beacon)?.tag],
  ['externalId', ({ event }) => (event.geofence ?? event.beacon)?.externalId],
  ['description', ({ event }) => (event.geofence ?? event.beacon)?.description],
  ['longitude', ({ event }) => event.location?.coordinates[0]],
  ['latitude', ({ event }) => event.location?.coordinates[1]],
  ['confidence', ({ event }) => event.confidence],
  ['duration', ({ event }) => event.duration],
];

/** Returns a CSV file (RFC 4180) of the events. */
export function csvOf(found: readonly Found[]): string {
  const rows = found.map((each) => columns.map(([, read]) => cellOf(read(each))).join(','));
  return `${[columns.map(([name]) => name).join(','), ...rows].join('\r\n')}\r\n`;
}
