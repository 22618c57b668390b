/**
 * Rewrites statements for one server into statements for a cluster. Pure.
 *
 * Each shard holds its rows of a table in the replicated table `NAME_local`; `NAME` is a Distributed table over all
 * shards. Queries and views read `NAME`, so every query goes to every shard; the server that receives the query
 * computes windows, joins and everything else that needs all rows.
 *
 * A statement names the database of the tables it reads: servers that run it for another server may resolve an
 * unqualified name in their own default database.
 */
import { identifier, literal } from '../../../schemas/sql.js';

interface Cluster {
  /** Name in ClickHouse's configuration. */
  readonly name: string;
  readonly database: string;
}

/**
 * Sharding column of each table. Rows that replace each other have the same value, or FINAL would return both; so have
 * rows that views join.
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
  String.raw`${comments}CREATE TABLE IF NOT EXISTS (?<name>\w+)(?<columns>\s*\([\s\S]*\)\s*)` +
    String.raw`ENGINE = ReplacingMergeTree(?:\((?<version>\w+)\))?(?<rest>\s[\s\S]*)$`,
);
const viewPattern = new RegExp(String.raw`${comments}CREATE OR REPLACE VIEW (?<name>\w+) AS(?<rest>\s[\s\S]*)$`);
const readTable = new RegExp(String.raw`\b(FROM|JOIN) (${Object.keys(shardedBy).join('|')})\b`, 'g');

/** Returns the statements in the order in which they must run. Throws for an unknown kind of statement. */
export function onCluster(statement: string, { name: cluster, database }: Cluster): string[] {
  const everywhere = `ON CLUSTER ${literal(cluster)}`;
  const view = viewPattern.exec(statement)?.groups;
  if (view) {
    const rest = view.rest!.replace(readTable, `$1 ${identifier(database)}.$2`);
    return [`${view.comments}CREATE OR REPLACE VIEW ${view.name} ${everywhere} AS${rest}`];
  }
  const table = tablePattern.exec(statement)?.groups;
  const column = table && shardedBy[table.name!];
  if (!column) throw new Error(`cannot run this statement on a cluster: ${statement}`);
  const local = `${table.name}_local`;
  const distributed = `Distributed(${literal(cluster)}, ${literal(database)}, ${literal(local)}, sipHash64(${column}))`;
  return [
    `${table.comments}CREATE TABLE IF NOT EXISTS ${local} ${everywhere}${table.columns}` +
      `ENGINE = ${replicated(database, local, table.version)}${table.rest}`,
    `CREATE TABLE IF NOT EXISTS ${table.name} ${everywhere} AS ${identifier(database)}.${local} ` +
      `ENGINE = ${distributed}`,
  ];
}

/**
 * Returns the replicated engine. Its path contains the table's name, so that a server added later finds its replicas;
 * ClickHouse fills in shard and replica.
 */
function replicated(database: string, table: string, version: string | undefined): string {
  const place = literal(`/clickhouse/tables/{shard}/${database}/${table}`);
  const parameters = [place, "'{replica}'", ...(version === undefined ? [] : [version])];
  return `ReplicatedReplacingMergeTree(${parameters.join(', ')})`;
}
