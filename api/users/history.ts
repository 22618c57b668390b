/**
 * The stored locations of a user, newest first, and the explanation of one of them.
 *
 * The table of locations holds the geofences that the user was inside of after each location. Those of the previous
 * location are the state with which a location was evaluated.
 */
import Type, { type Static } from 'typebox';
import { FieldReader, type Outcome, type RawFields } from '../../http/fields/reader.js';
import type { ListCursor, Scope, SpatialQueries } from '../../pipeline/catalog/types.js';
import type { Analytics } from '../../pipeline/ports.js';
import { dayMs } from '../../schemas/durations.js';
import { Id, Point, Timestamp } from '../../schemas/json/common.js';
import type { Event, User } from '../../schemas/json/user.js';
import type { DeviceState, Location, Visit } from '../../schemas/records.js';
import { isoTime, point } from '../../schemas/wire/common.js';
import { oldestEventsFirst } from '../events/order.js';
import { pageOf, readCursor, readLimit } from '../lists.js';
import type { Page } from '../page.js';
import { where } from '../sql.js';

interface HistoryDependencies {
  readonly analytics: Pick<Analytics, 'query'>;
  readonly spatial: Pick<SpatialQueries, 'explain'>;
}

/** Bounds by the time of the location, epoch ms; `after` is exclusive, `before` too. */
interface HistoryQuery {
  readonly limit: number;
  readonly cursor: ListCursor | null;
  readonly before: number | null;
  readonly after: number | null;
}

/** One location of a user's history. */
export const UserLocation = Type.Object(
  {
    _id: Id,
    at: Timestamp,
    receivedAt: Timestamp,
    location: Point,
    locationAccuracy: Type.Number({ description: 'Radius of uncertainty in metres' }),
    foreground: Type.Boolean(),
    stopped: Type.Boolean(),
    replayed: Type.Boolean(),
    source: Type.Optional(Type.String()),
    result: Type.Enum(['applied', 'repeat', 'stale']),
    geofences: Type.Array(Id, { description: 'Geofences that the user was inside of afterwards' }),
    events: Type.Array(Id, { description: 'Events that the location caused' }),
  },
  { $id: 'UserLocation', description: 'A location of a user, with what it caused' },
);
export type UserLocation = Static<typeof UserLocation>;

/** A row of table `locations`. */
interface LocationRow {
  readonly id: string;
  /** Of the location; empty if it had none. The user may have got another one since. */
  readonly userId: string;
  readonly timeMs: number;
  readonly receivedMs: number;
  readonly latitude: number;
  readonly longitude: number;
  readonly accuracy: number;
  readonly foreground: boolean;
  readonly stopped: boolean;
  readonly replayed: boolean;
  readonly source: string;
  readonly ip: string;
  readonly result: UserLocation['result'];
  readonly geofences: string[];
  readonly events: string[];
}

const columns = `id, user_id AS userId, toUnixTimestamp64Milli(occurred_at) AS timeMs,
  toUnixTimestamp64Milli(received_at) AS receivedMs,
  latitude, longitude, accuracy_m AS accuracy, foreground, stopped, replayed, source, ip, result, geofences, events`;

/** Reads the limit, the cursor and the bounds by time of a history. */
export function readHistoryQuery(query: RawFields): Outcome<HistoryQuery> {
  const reader = new FieldReader(query);
  const limit = readLimit(reader);
  const cursor = readCursor(reader);
  const [before, after] = [reader.time('before'), reader.time('after')].map((time) => time && Math.max(0, time));
  return reader.outcome(() => ({ limit, cursor, before: before ?? null, after: after ?? null }));
}

const locationOf = (row: LocationRow): UserLocation => ({
  _id: row.id,
  at: isoTime(row.timeMs),
  receivedAt: isoTime(row.receivedMs),
  location: point(row.longitude, row.latitude),
  locationAccuracy: row.accuracy,
  foreground: row.foreground,
  stopped: row.stopped,
  replayed: row.replayed,
  ...(row.source !== '' && { source: row.source }),
  result: row.result,
  geofences: row.geofences,
  events: row.events,
});

/** Returns a page of the locations of a user, newest first, in wire form. */
export async function listLocations(
  { analytics }: HistoryDependencies,
  scope: Scope,
  user: User,
  query: HistoryQuery,
): Promise<Page<LocationRow>> {
  // Rows of one location are equal, so LIMIT 1 BY replaces FINAL.
  const { sql, parameters } = where(scope, [
    ['device_id = {text}', user.deviceId],
    ['user = {text}', user._id],
    ['occurred_at < {time}', query.before],
    ['occurred_at > {time}', query.after],
    ['(occurred_at, id) < ({time}, {text})', query.cursor?.timeMs, query.cursor?.id],
  ]);
  const rows = await analytics.query<LocationRow>(
    `SELECT ${columns} FROM locations WHERE ${sql}
      ORDER BY occurred_at DESC, id DESC LIMIT 1 BY id LIMIT ${query.limit + 1}`,
    parameters,
  );
  const page = pageOf(rows, query.limit);
  const text = (row: LocationRow): string => JSON.stringify(locationOf(row));
  return { meta: page.meta, name: 'locations', items: page.rows, text };
}

/** The known state of the user before a location. `none`: no earlier location is stored. */
type Before = { readonly row: LocationRow; readonly visits: readonly Visit[] } | 'none';

/** Finds the last location that was applied before this one. Locations of one request are applied by their times. */
async function rowBefore({ analytics }: HistoryDependencies, scope: Scope, user: User, row: LocationRow) {
  const { sql, parameters } = where(scope, [
    ['device_id = {text}', user.deviceId],
    ['user = {text}', user._id],
    ["result = 'applied' AND id != {text}", row.id],
    ['(received_at, occurred_at) < ({time}, {time})', row.receivedMs, row.timeMs],
  ]);
  const [before] = await analytics.query<LocationRow>(
    `SELECT ${columns} FROM locations WHERE ${sql} ORDER BY received_at DESC, occurred_at DESC LIMIT 1`,
    parameters,
  );
  return before;
}

/** How long before a location the entry of a visit is looked for. A longer visit counts from the location before. */
const maxVisitMs = 31 * dayMs;

/** Returns the open visits after a location, with their times of entry, from the recorded events. */
async function visitsAfter(
  { analytics }: HistoryDependencies,
  scope: Scope,
  user: User,
  { geofences, timeMs }: LocationRow,
): Promise<Visit[]> {
  if (geofences.length === 0) return [];
  const { sql, parameters } = where(scope, [
    ['created_at <= {time} AND created_at > {time}', timeMs, Math.max(0, timeMs - maxVisitMs)],
    ['user = {text} AND geofence IN {texts}', user._id, geofences],
  ]);
  const events = await analytics.query<{ geofence: string; enteredMs: number; dwelledMs: number }>(
    `SELECT geofence,
        toUnixTimestamp64Milli(maxIf(created_at, type = 'user.entered_geofence')) AS enteredMs,
        toUnixTimestamp64Milli(maxIf(created_at, type = 'user.dwelled_in_geofence')) AS dwelledMs
      FROM events WHERE ${sql} GROUP BY geofence`,
    parameters,
  );
  const byGeofence = new Map(events.map((event) => [event.geofence, event]));
  const visits = geofences.map((id): Visit => {
    const { enteredMs = 0, dwelledMs = 0 } = byGeofence.get(id) ?? {};
    const since = enteredMs > 0 ? enteredMs : timeMs;
    return { id, since, dwelled: dwelledMs >= since && dwelledMs > 0, generation: null };
  });
  return visits.sort((one, other) => one.since - other.since);
}

/** The state of the device before a location, so that its evaluation ends with the recorded result. */
function stateBefore(user: User, row: LocationRow, before: Before): DeviceState | undefined {
  if (before === 'none') return undefined;
  const { latitude, longitude, accuracy: accuracy_m, foreground, stopped, source } = row;
  const flags = { foreground, stopped, deviceTimed: true, beacons: null, ip: row.ip || null, source: source || null };
  const later = row.timeMs + 1;
  const last =
    row.result === 'applied'
      ? null
      : {
          latitude,
          longitude,
          accuracy_m,
          ...flags,
          receivedAt: row.receivedMs,
          occurredAt: row.result === 'repeat' ? row.timeMs : later,
        };
  return {
    users: [
      {
        id: user._id,
        userId: before.row.userId || null,
        createdAt: Date.parse(user.createdAt),
        profile: null,
        last,
        geofences: [...before.visits],
        beacons: [],
      },
    ],
    locationMs: null,
  };
}

const recordOf = (scope: Scope, user: User, row: LocationRow): Location => ({
  id: row.id,
  project: scope.project,
  environment: scope.environment,
  deviceId: user.deviceId,
  userId: row.userId || null,
  latitude: row.latitude,
  longitude: row.longitude,
  accuracy_m: row.accuracy,
  occurredAt: row.timeMs,
  receivedAt: row.receivedMs,
  deviceTimed: true,
  foreground: row.foreground,
  stopped: row.stopped,
  replayed: row.replayed,
  beacons: null,
  ip: row.ip || null,
  source: row.source || null,
  replyTo: null,
  details: null,
});

/** Explains a stored location with the current geofences and settings. Returns undefined if it is not stored. */
export async function explainLocation(dependencies: HistoryDependencies, scope: Scope, user: User, id: string) {
  const { analytics, spatial } = dependencies;
  const found = where(scope, [
    ['device_id = {text}', user.deviceId],
    ['user = {text}', user._id],
    ['id = {text}', id],
  ]);
  const [row] = await analytics.query<LocationRow>(
    `SELECT ${columns} FROM locations WHERE ${found.sql} LIMIT 1`,
    found.parameters,
  );
  if (row === undefined) return undefined;
  const previous = await rowBefore(dependencies, scope, user, row);
  const before: Before = previous
    ? { row: previous, visits: await visitsAfter(dependencies, scope, user, previous) }
    : 'none';
  const state = stateBefore(user, row, before);
  const explanation = await spatial.explain({
    ...scope,
    location: recordOf(scope, user, row),
    ...(state && { state }),
  });
  const caused = where(scope, [['id IN {texts}', row.events]]);
  const events =
    row.events.length === 0
      ? []
      : await analytics.query<{ body: string }>(
          `SELECT body FROM events WHERE ${caused.sql} ORDER BY ${oldestEventsFirst} LIMIT 1 BY id LIMIT 1000`,
          caused.parameters,
        );
  return {
    location: locationOf(row),
    ...(before !== 'none' && {
      before: {
        at: isoTime(before.row.timeMs),
        geofences: before.visits.map(({ id, since }) => ({ _id: id, since: isoTime(since) })),
      },
    }),
    explanation,
    events: events.map(({ body }) => JSON.parse(body) as Event),
  };
}
