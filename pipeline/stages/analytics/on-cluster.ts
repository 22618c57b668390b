/**
 * Statements for one server, as statements for a cluster of them. Pure.
 *
 * Of a table each server keeps its shard's share, replicated, as `NAME_local`; `NAME` is a Distributed table over all
 * shards, which views and questions then ask as they would ask the table. Each question goes to every shard; windows,
 * joins and what else needs all rows are worked out where it came in.
 *
 * A statement names the database of what it reads: servers that run it for another one may look for a bare name in
 * their own default database.
 */
import { identifier, literal } from '../../../schemas/sql.js';

export interface Cluster {
  /** In ClickHouse's configuration. */
  readonly name: string;
  readonly database: string;
}

/**
 * The column that says which shard a row is on. Rows that replace each other have the same value there, or FINAL would
 * show both; so have those that views pair.
 */
export const shardedBy: Readonly<Record<string, string>> = {
  locations: 'device_id',
  events: 'user',
  users: 'user',
  webhook_attempts: 'id',
  rejections: 'id',
  schema_migrations: 'name',
};

const comments = String.raw`^(?<comments>(?:--.*\n)*)`;
const tablePattern = new RegExp(
  String.raw`${comments}CREATE TABLE IF NOT EXISTS (?<name>\w+)(?<columns>\s*\([\s\S]*\)\s*)ENGINE = ReplacingMergeTree(?:\((?<version>\w+)\))?(?<rest>\s[\s\S]*)$`,
);
const viewPattern = new RegExp(String.raw`${comments}CREATE OR REPLACE VIEW (?<name>\w+) AS(?<rest>\s[\s\S]*)$`);
const readTable = new RegExp(String.raw`\b(FROM|JOIN) (${Object.keys(shardedBy).join('|')})\b`, 'g');

/** In the order in which they must run. Throws where the statement is not one of those that it knows. */
export function onCluster(statement: string, { name: cluster, database }: Cluster): string[] {
  const everywhere = `ON CLUSTER ${literal(cluster)}`;
  const view = viewPattern.exec(statement)?.groups;
  if (view) {
    const rest = view.rest!.replace(readTable, `$1 ${identifier(database)}.$2`);
    return [`${view.comments}CREATE OR REPLACE VIEW ${view.name} ${everywhere} AS${rest}`];
  }
  const table = tablePattern.exec(statement)?.groups;
  const column = table && shardedBy[table.name!];
  if (!column) throw new Error(`no way is known to run this on a cluster: ${statement}`);
  const local = `${table.name}_local`;
  const distributed = `Distributed(${literal(cluster)}, ${literal(database)}, ${literal(local)}, sipHash64(${column}))`;
  return [
    `${table.comments}CREATE TABLE IF NOT EXISTS ${local} ${everywhere}${table.columns}ENGINE = ${replicated(database, local, table.version)}${table.rest}`,
    `CREATE TABLE IF NOT EXISTS ${table.name} ${everywhere} AS ${identifier(database)}.${local} ENGINE = ${distributed}`,
  ];
}

/**
 * By name, so that a server that is added later finds those that have the same rows. The server fills in its own shard
 * and replica.
 */
function replicated(database: string, table: string, version: string | undefined): string {
  const place = literal(`/clickhouse/tables/{shard}/${database}/${table}`);
  return `ReplicatedReplacingMergeTree(${[place, "'{replica}'", ...(version === undefined ? [] : [version])].join(', ')})`;
}
