/** Checks ClickHouse: reach, login, version, database, permissions, cluster and clock. Writes nothing. */
import { text } from 'node:stream/consumers';
import type { ClickHouseClient } from '@clickhouse/client';
import { rowsOf } from '../../backends/clickhouse-answers.js';
import { type Clients, createClients } from '../../backends/cluster/clickhouse/clients.js';
import { reasonOf } from '../../backends/cluster/clickhouse/errors.js';
import { isTooOld, tooOldReason } from '../../backends/cluster/clickhouse/versions.js';
import type { ClickHouseOptions } from '../../backends/cluster/options.js';
import { identifier } from '../../schemas/sql.js';
import { compareClock } from './clock.js';
import { type Finding, findingsAbout } from './finding.js';
import { outOfReach, reachAll } from './reach.js';

const { ok, failure } = findingsAbout('ClickHouse');

const seeAccess = 'See "Permissions" in docs/cluster.md for the statements that grant them.';

/** Yields findings, and ends after a failure that hides others. Closes its clients. */
export async function* checkClickHouse(options: ClickHouseOptions): AsyncGenerator<Finding> {
  const away = outOfReach(await reachAll([options.url]));
  if (away !== '') {
    yield failure(`it can't be reached: ${away}`, 'Check clickhouse.url, firewalls, and whether the server runs.');
    return;
  }
  const clients = createClients(options);
  try {
    yield* checkServer(clients, options);
  } catch (error) {
    const remedy = 'Check clickhouse.url, clickhouse.caFile, clickhouse.username and FENCELINE_CLICKHOUSE_PASSWORD.';
    yield failure(reasonOf(error), remedy);
  } finally {
    await Promise.all(Object.values(clients).map((client: ClickHouseClient) => client.close()));
  }
}

async function* checkServer(clients: Clients, options: ClickHouseOptions): AsyncGenerator<Finding> {
  const { withoutDatabase: client } = clients;
  const { database, cluster } = options;
  const version = await textOf(client, 'SELECT version()');
  if (isTooOld(version)) {
    yield failure(tooOldReason(version), 'Upgrade the server.');
    return;
  }
  yield ok(`version ${version}`);
  const exists = await textOf(client, 'SELECT count() FROM system.databases WHERE name = {database:String}', {
    database,
  });
  const needed = ['SELECT', 'INSERT', 'ALTER DELETE', 'CREATE TABLE', 'CREATE VIEW', 'DROP VIEW'];
  if (exists === '0') needed.push('CREATE DATABASE');
  const missing: string[] = [];
  for (const privilege of needed) {
    if (!(await isGranted(client, `${privilege} ON ${identifier(database)}.*`))) missing.push(privilege);
  }
  if (missing.length > 0)
    yield failure(`privileges on database ${database} are missing: ${missing.join(', ')}`, seeAccess);
  else if (exists === '0') yield ok(`database ${database} does not exist yet; the first start creates it`);
  else yield ok(`this user has the privileges on database ${database}`);
  if (cluster !== undefined) yield await checkCluster(client, cluster);
  yield await compareClock('ClickHouse', async () =>
    Number(await textOf(client, 'SELECT toUnixTimestamp64Milli(now64(3))')),
  );
}

async function checkCluster(client: ClickHouseClient, cluster: string): Promise<Finding> {
  const hosts = await textOf(client, 'SELECT count() FROM system.clusters WHERE cluster = {cluster:String}', {
    cluster,
  });
  if (hosts === '0')
    return failure(
      `the server knows no cluster ${cluster}`,
      "Set clickhouse.cluster to a name in the server's remote_servers, or leave it empty.",
    );
  return ok(`cluster ${cluster} has ${hosts} replicas`);
}

async function isGranted(client: ClickHouseClient, privilege: string): Promise<boolean> {
  // The statement takes no FORMAT, which the client's queries have.
  const { stream } = await client.exec({ query: `CHECK GRANT ${privilege}` });
  return (await text(stream)).trim() === '1';
}

/** Returns the only value of the only row, as text. */
async function textOf(
  client: ClickHouseClient,
  sql: string,
  parameters: Readonly<Record<string, string>> = {},
): Promise<string> {
  const [row] = await rowsOf<Record<string, unknown>>(client, { sql, parameters });
  return String(Object.values(row ?? {})[0]);
}
