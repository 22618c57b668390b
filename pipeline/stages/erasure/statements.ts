/**
 * The SQL of erasures. Pure. Statements that delete cannot bind parameters, so all values are quoted literals, and many
 * values make several statements.
 *
 * A user's rows are those with its `_id`, and those that name it and have one of the {@link ErasedTimes}. Rows of the
 * same person that were received after the request belong to a new record.
 */
import { literal } from '../../../schemas/sql.js';
import { isoTime } from '../../../schemas/wire/common.js';
import type { Scope } from '../../catalog/types.js';
import type { ErasedTimes } from '../../records/erasure-command.js';

/** A user or event to erase, in plain text. */
export interface Target extends ErasedTimes {
  /** `_id`, userId or deviceId of a user; `_id` of an event. */
  readonly name: string;
}

/**
 * Tables of rows about users, and their time of receipt, in the order of deletion. Table `users` has the latest row of
 * a record only. If a deletion ends early, earlier rows in the other tables still tell which record is erased.
 */
const receiptColumns = { users: 'actual_updated_at', locations: 'received_at', events: 'actual_created_at' } as const;
type UserTable = keyof typeof receiptColumns;
/** The tables with rows of users. */
export const userTables = Object.keys(receiptColumns) as UserTable[];
/** Every table with rows of projects. */
export const allTables = [...userTables, 'webhook_attempts', 'rejections'] as const;

/** ClickHouse's limit of texts in one search. */
const maxNeedles = 255;

/** Bytes of the values in one statement. ClickHouse refuses texts beyond its `max_query_size` of 262,144 bytes. */
const maxValueBytes = 100_000;

const list = (texts: readonly string[]): string => texts.map(literal).join(', ');
const time = (epochMs: number): string => `fromUnixTimestamp64Milli(toInt64(${Math.floor(epochMs)}), 'UTC')`;

/** Returns the condition of all rows of an environment. */
export const inScope = ({ project, environment }: Scope): string =>
  `project = ${literal(project)} AND environment = ${literal(environment)}`;

const named = (name: string): string =>
  ['user', 'user_id', 'device_id'].map((column) => `${column} = ${name}`).join(' OR ');

const hasErasedTime = (value: string, { receivedBy, receivedBeyond }: ErasedTimes, literalOf = time): string =>
  `(${value} <= ${literalOf(receivedBy)} OR ${value} > ${literalOf(receivedBeyond)})`;

/**
 * When the event of an attempt was received: ISO texts sort like times. An attempt may follow the request, about an
 * event from before. All events of a body are of one location, and nothing else stands before the first time.
 */
const receiptOfAttempt = `extract(request_body, '"actualCreatedAt":"([^"]*)"')`;

const isTarget = (table: UserTable, target: Target): string =>
  `((${named(literal(target.name))}) AND ${hasErasedTime(receiptColumns[table], target)})`;

const anyOf = (conditions: readonly string[]): string => `(${conditions.join(' OR ')})`;

/** Groups values in their order, so that the texts of a group have at most `maxValueBytes`, or it is a single value. */
function grouped<Value>(values: readonly Value[], textOf: (value: Value) => string): Value[][] {
  const groups: Value[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const value of values) {
    const ownBytes = Buffer.byteLength(textOf(value));
    bytes += ownBytes;
    if (bytes > maxValueBytes) {
      groups.push([]);
      bytes = ownBytes;
    }
    groups.at(-1)?.push(value);
  }
  return groups;
}

/** Returns conditions for one statement each. A row of the environment has one of them if it has one of the given. */
const conditionsOf = (scope: Scope, conditions: readonly string[]): string[] =>
  grouped(conditions, (condition) => condition).map((group) => `${inScope(scope)} AND ${anyOf(group)}`);

/** Returns conditions that a few ids fulfil each. */
function byIds(ids: readonly string[], conditionOf: (idList: string) => string): string[] {
  const conditions: string[] = [];
  for (let start = 0; start < ids.length; start += maxNeedles)
    conditions.push(conditionOf(list(ids.slice(start, start + maxNeedles))));
  return conditions;
}

/** A location that was not applied may name a user without a record, and is stored with another one of its device. */
const tellsRecord: Readonly<Record<UserTable, string>> = { users: '1', locations: "result = 'applied'", events: '1' };

const selectsOf = (scope: Scope, targets: readonly Target[]): string[] =>
  userTables.map((table) => {
    const isWanted = anyOf(targets.map((target) => isTarget(table, target)));
    const condition = `${inScope(scope)} AND ${tellsRecord[table]} AND ${isWanted}`;
    return `SELECT user, user_id, device_id FROM ${table} WHERE ${condition}`;
  });

/** Groups targets by what fits into one `usersQuery`. */
export const groupedTargets = (targets: readonly Target[]): Target[][] =>
  grouped(targets, (target) => userTables.map((table) => isTarget(table, target)).join());

/** A row of the answer to {@link usersQuery}: a user record, by the names of its columns. */
export interface FoundUser {
  readonly user: string;
  readonly user_id: string;
  readonly device_id: string;
}

/** Returns a query of the targets' user records that follow `after`, by device: the columns of `FoundUser`. */
export function usersQuery(
  scope: Scope,
  targets: readonly Target[],
  after: FoundUser | undefined,
  limit: number,
): string {
  const following =
    after && ` WHERE (device_id, user, user_id) > (${list([after.device_id, after.user, after.user_id])})`;
  return (
    `SELECT DISTINCT user, user_id, device_id FROM (${selectsOf(scope, targets).join(' UNION ALL ')})` +
    `${following ?? ''} ORDER BY device_id, user, user_id LIMIT ${limit}`
  );
}

/** Returns a query of the devices that follow `after`: column device_id. */
export const devicesQuery = (scope: Scope, after: string, limit: number): string =>
  `SELECT DISTINCT device_id FROM users WHERE ${inScope(scope)} AND device_id > ${literal(after)} ` +
  `ORDER BY device_id LIMIT ${limit}`;

/** Returns conditions of the rows of a table that belong to the targets or to the user records `ids`. */
export const userRows = (
  scope: Scope,
  table: UserTable,
  targets: readonly Target[],
  ids: readonly string[],
): string[] =>
  conditionsOf(scope, [
    ...byIds(ids, (some) => `user IN (${some})`),
    ...targets.map((target) => isTarget(table, target)),
  ]);

/** Returns conditions of the attempts whose bodies name the targets or the user records. */
export const attemptRows = (scope: Scope, targets: readonly Target[], ids: readonly string[]): string[] =>
  conditionsOf(scope, [
    ...byIds(ids, (some) => `multiSearchAny(request_body, [${some}])`),
    ...targets.map((target) => {
      const fields = ['_id', 'userId', 'deviceId'].map((field) => `"${field}":${JSON.stringify(target.name)}`);
      const hasTime = hasErasedTime(receiptOfAttempt, target, (epochMs) => literal(isoTime(epochMs)));
      return `(multiSearchAny(request_body, [${list(fields)}]) AND ${hasTime})`;
    }),
  ]);

/** Returns conditions of the events with these ids. */
export const eventRows = (scope: Scope, ids: readonly string[]): string[] =>
  conditionsOf(
    scope,
    byIds(ids, (some) => `id IN (${some})`),
  );

/** Returns conditions of the attempts that delivered any of these events. */
export const attemptRowsOfEvents = (scope: Scope, ids: readonly string[]): string[] =>
  conditionsOf(
    scope,
    byIds(ids, (some) => `hasAny(events, [${some}])`),
  );

/** Returns the statement that deletes rows and resolves when they are gone. `cluster` as of the tables' migration. */
export function deleteRows(table: string, rows: string, cluster: string | undefined): string {
  const place = cluster === undefined ? table : `${table}_local ON CLUSTER ${literal(cluster)}`;
  return `ALTER TABLE ${place} DELETE WHERE ${rows} SETTINGS mutations_sync = 2`;
}
