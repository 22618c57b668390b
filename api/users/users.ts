/** Queries users in the analytics store, with those of their geofences and beacons that are still monitored. */
import { FieldReader, type Outcome, type RawFields } from '../../http/fields/reader.js';
import { summariesOf } from '../../pipeline/catalog/queries/summaries.js';
import type { ConfigurationReader, ListCursor, Scope } from '../../pipeline/catalog/types.js';
import type { Analytics } from '../../pipeline/ports.js';
import { type GeofenceRecord, isMonitoredFor, type MonitoredTimes } from '../../schemas/json/geofence.js';
import type { User } from '../../schemas/json/user.js';
import { createTurns, runInTurns } from '../../schemas/turns.js';
import { type UserParts, userJson } from '../../schemas/wire/user.js';
import { pageMeta, readCursor, readLimit, readPageOfTimes, readTimeBounds } from '../lists.js';
import type { Page } from '../page.js';
import { type Statement, where } from '../sql.js';

interface UsersDependencies {
  readonly configuration: ConfigurationReader;
  readonly analytics: Pick<Analytics, 'query'>;
  /** Epoch ms. */
  readonly clock: () => number;
}

/** Each record may have 64 kB of metadata. */
const recordsPerTurn = 16;
const nextTurn = createTurns();

/** Query of a list of users. Bounds are exclusive, epoch ms. */
interface UserQuery {
  readonly limit: number;
  readonly updatedBefore?: number;
  readonly updatedAfter?: number;
  readonly cursor: ListCursor | null;
  /** A part of the user's ids, description or metadata, in any case of letters. */
  readonly search?: string | null;
  /** `_id` of a geofence that the users are inside of. */
  readonly geofence?: string;
  /** Whose users; null for all. */
  readonly userIds?: readonly string[] | null;
  /** Latest time of the users' last locations, epoch ms, inclusive. */
  readonly lastBy?: number;
}

/** A row of table `users`. */
interface UserRow {
  readonly id: string;
  readonly timeMs: number;
  readonly geofences: string[];
  readonly beacons: string[];
  /** UserParts without geofences and beacons, as JSON. */
  readonly body: string;
}

const columns = 'user AS id, toUnixTimestamp64Milli(updated_at) AS timeMs, geofences, beacons, body';

/** Reads the limit, the cursor, the search and the times of update of a list of users. */
export function readUserQuery(query: RawFields): Outcome<UserQuery> {
  const reader = new FieldReader(query);
  const limit = readLimit(reader);
  const bounds = readTimeBounds(reader, ['updatedBefore', 'updatedAfter']);
  const cursor = readCursor(reader);
  const search = reader.text('search');
  return reader.outcome(() => ({ limit, cursor, search, ...bounds }));
}

/** Quotes and braces of the JSON are not part of a value, but a search for them does no harm. */
const searched = `(user = {text} OR positionCaseInsensitiveUTF8(user_id, {text}) > 0
  OR positionCaseInsensitiveUTF8(device_id, {text}) > 0
  OR positionCaseInsensitiveUTF8(concat(JSONExtractString(body, 'profile', 'description'), ' ',
    JSONExtractRaw(body, 'profile', 'metadata')), {text}) > 0)`;

/** A user whose device went on with another one, such as nobody after a logout, is inside nothing, wherever it was. */
const insideGeofence = `has(geofences, {text}) AND (device_id, user) IN (
  SELECT device_id, user FROM users FINAL
    WHERE project = {project:String} AND environment = {environment:String} AND device_id IN (
      SELECT device_id FROM users
        WHERE project = {project:String} AND environment = {environment:String} AND has(geofences, {text}))
    ORDER BY updated_at DESC, actual_updated_at DESC, user DESC LIMIT 1 BY device_id)`;

/** Selects the newest row of each user, last updated first, one more than the limit. */
function usersStatement(scope: Scope, query: UserQuery): Statement {
  const { sql, parameters } = where(scope, [
    ['updated_at < {time}', query.updatedBefore],
    ['updated_at > {time}', query.updatedAfter],
    [insideGeofence, query.geofence, query.geofence],
    ['has({texts}, user_id)', query.userIds],
    ['updated_at <= {time}', query.lastBy],
    [searched, query.search, query.search, query.search, query.search],
    ['(updated_at, user) < ({time}, {text})', query.cursor?.timeMs, query.cursor?.id],
  ]);
  return {
    sql: `SELECT ${columns} FROM users FINAL WHERE ${sql} ORDER BY updated_at DESC, user DESC LIMIT ${query.limit + 1}`,
    parameters,
  };
}

/** Selects the user with this `_id`, `userId` or `deviceId`; the last updated of several. */
function userStatement(scope: Scope, name: string): Statement {
  const { sql, parameters } = where(scope, [
    ['(user = {text} OR user_id = {text} OR device_id = {text})', name, name, name],
  ]);
  return {
    sql: `SELECT ${columns} FROM users FINAL WHERE ${sql} ORDER BY updated_at DESC, user DESC LIMIT 1`,
    parameters,
  };
}

async function userOf({ configuration, clock }: UsersDependencies, scope: Scope, row: UserRow): Promise<User> {
  const parts = JSON.parse(row.body) as Omit<UserParts, 'geofences' | 'beacons'>;
  const nowMs = clock();
  const { geofences, beacons } = summariesOf(configuration);
  // The user's last location decided the user's events, too.
  const isListed = (geofence: MonitoredTimes): boolean =>
    nowMs <= (geofence.deleteAfter ?? Infinity) && isMonitoredFor(geofence, parts.userId, parts.last.occurredAt);
  const isInRange = ({ enabled }: { enabled: boolean }): boolean => enabled;
  return userJson({
    ...parts,
    geofences: await runInTurns(geofences(scope, row.geofences, isListed), nextTurn, recordsPerTurn),
    beacons: await runInTurns(beacons(scope, row.beacons, isInRange), nextTurn, recordsPerTurn),
  });
}

/** Returns a page of users in wire form. */
export async function listUsers(
  dependencies: UsersDependencies,
  scope: Scope,
  query: UserQuery,
): Promise<Page<UserRow>> {
  const { meta, rows } = await readPageOfTimes(query, (page) => {
    const { sql, parameters } = usersStatement(scope, { ...query, ...page });
    return dependencies.analytics.query<UserRow>(sql, parameters);
  });
  return {
    meta,
    name: 'users',
    items: rows,
    text: async (row) => JSON.stringify(await userOf(dependencies, scope, row)),
  };
}

/** Lists the users inside a geofence, each as of its last location; none of a disabled one, and only its `userIds`. */
export async function listUsersInside(
  dependencies: UsersDependencies,
  scope: Scope,
  { _id, enabled, disableAfter, userIds }: GeofenceRecord,
  query: UserQuery,
): Promise<Page<UserRow>> {
  if (!enabled) return { meta: pageMeta(false, null), name: 'users', items: [], text: () => '' };
  return listUsers(dependencies, scope, {
    ...query,
    geofence: _id,
    userIds,
    ...(disableAfter !== null && { lastBy: disableAfter }),
  });
}

/** Finds the user with this `_id`, `userId` or `deviceId`; undefined if there is none. */
export async function findUser(dependencies: UsersDependencies, scope: Scope, name: string): Promise<User | undefined> {
  const { sql, parameters } = userStatement(scope, name);
  const [row] = await dependencies.analytics.query<UserRow>(sql, parameters);
  return row && userOf(dependencies, scope, row);
}
