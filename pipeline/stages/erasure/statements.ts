/**
 * The SQL of erasures. Pure. Statements that delete cannot bind parameters, so all values are quoted literals.
 *
 * A user's rows are those with its `_id`, and those that name it and were received by the time of the erasure. Rows of
 * the same person that were received later belong to a new record.
 */
import { literal } from '../../../schemas/sql.js';
import type { Scope } from '../../catalog/types.js';

/** A user or event to erase, in plain text. */
export interface Target {
  /** `_id`, userId or deviceId of a user; `_id` of an event. */
  readonly name: string;
  /** Epoch ms. */
  readonly receivedBy: number;
}

/** Tables of rows about users, and their time of receipt. */
const receiptColumns = { locations: 'received_at', events: 'actual_created_at', users: 'actual_updated_at' } as const;
type UserTable = keyof typeof receiptColumns;
export const userTables = Object.keys(receiptColumns) as UserTable[];
/** Every table with rows of projects. */
export const allTables = [...userTables, 'webhook_attempts', 'rejections'] as const;

/** ClickHouse's limit of texts in one search. */
const maxNeedles = 255;
const maxFoundUsers = 100_000;

const list = (texts: readonly string[]): string => texts.map(literal).join(', ');
const time = (epochMs: number): string => `fromUnixTimestamp64Milli(toInt64(${Math.floor(epochMs)}), 'UTC')`;
/** Returns the condition of all rows of an environment. */
export const inScope = ({ project, environment }: Scope): string =>
  `project = ${literal(project)} AND environment = ${literal(environment)}`;

const named = (name: string): string =>
  ['user', 'user_id', 'device_id'].map((column) => `${column} = ${name}`).join(' OR ');

const isTarget = (table: UserTable, { name, receivedBy }: Target): string =>
  `((${named(literal(name))}) AND ${receiptColumns[table]} <= ${time(receivedBy)})`;

const anyOf = (conditions: readonly string[]): string => `(${conditions.join(' OR ')})`;

/** Returns a query of the targets' user records: columns user, user_id, device_id. */
export function usersQuery(scope: Scope, targets: readonly Target[]): string {
  const selects = userTables.map((table) => {
    const isWanted = anyOf(targets.map((target) => isTarget(table, target)));
    return `SELECT user, user_id, device_id FROM ${table} WHERE ${inScope(scope)} AND ${isWanted}`;
  });
  return `SELECT DISTINCT user, user_id, device_id FROM (${selects.join(' UNION ALL ')}) LIMIT ${maxFoundUsers}`;
}

/** Returns a query of the devices that follow `after`: column device_id. */
export const devicesQuery = (scope: Scope, after: string, limit: number): string =>
  `SELECT DISTINCT device_id FROM users WHERE ${inScope(scope)} AND device_id > ${literal(after)} ` +
  `ORDER BY device_id LIMIT ${limit}`;

/** Returns the condition of the rows of a table that belong to the targets or to the user records `ids`. */
export function userRows(scope: Scope, table: UserTable, targets: readonly Target[], ids: readonly string[]): string {
  const byId = ids.length === 0 ? [] : [`user IN (${list(ids)})`];
  return `${inScope(scope)} AND ${anyOf([...byId, ...targets.map((target) => isTarget(table, target))])}`;
}

/** Returns the condition of the attempts whose bodies name the targets or the user records. */
export function attemptRows(scope: Scope, targets: readonly Target[], ids: readonly string[]): string {
  const conditions: string[] = [];
  for (let start = 0; start < ids.length; start += maxNeedles)
    conditions.push(`multiSearchAny(request_body, [${list(ids.slice(start, start + maxNeedles))}])`);
  for (const { name, receivedBy } of targets) {
    const fields = ['_id', 'userId', 'deviceId'].map((field) => `"${field}":${JSON.stringify(name)}`);
    conditions.push(`(multiSearchAny(request_body, [${list(fields)}]) AND at <= ${time(receivedBy)})`);
  }
  return `${inScope(scope)} AND ${anyOf(conditions)}`;
}

export const eventRows = (scope: Scope, ids: readonly string[]): string => `${inScope(scope)} AND id IN (${list(ids)})`;

export const attemptRowsOfEvents = (scope: Scope, ids: readonly string[]): string =>
  `${inScope(scope)} AND hasAny(events, [${list(ids)}])`;

/** Returns the statement that deletes rows and resolves when they are gone. `cluster` as of the tables' migration. */
export function deleteRows(table: string, rows: string, cluster: string | undefined): string {
  const place = cluster === undefined ? table : `${table}_local ON CLUSTER ${literal(cluster)}`;
  return `ALTER TABLE ${place} DELETE WHERE ${rows} SETTINGS mutations_sync = 2`;
}
