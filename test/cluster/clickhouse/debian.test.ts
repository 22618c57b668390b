/**
 * Tests what the simulated server cannot show, on ClickHouse servers packaged by Debian: logins, TLS, statements for a
 * cluster, and replication.
 *
 * They are too old for a node, which says so. The tests therefore send a node's statements with their own client, in
 * the syntax of 2018.
 */
import { randomInt } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Analytics } from '../../../pipeline/ports.js';
import { migrate } from '../../../pipeline/stages/analytics/migrate.js';
import { shardedBy } from '../../../pipeline/stages/analytics/on-cluster.js';
import { deleteRows, eventRows } from '../../../pipeline/stages/erasure/statements.js';
import { type Certificates, makeCertificates } from '../../../testing/services/certificates.js';
import {
  areDebianServersHere,
  type DebianCluster,
  type DebianServer,
  inTheWordsOf2018,
  startDebianCluster,
  startDebianServer,
} from '../../../testing/services/clickhouse/debian-servers.js';
import { until } from '../../../testing/until.js';
import { openClickHouse } from '../../support/clickhouse.js';
import { freshOptions } from './sites.js';

const areHere = areDebianServersHere();
if (!areHere)
  console.error("no clickhouse-server of Debian's, or no ZooKeeper: .ci/services gets them; their tests are skipped");
test.runIf(process.env.CI === 'true')('CI has the servers', () => expect(areHere).toBe(true));

const tooOld = /^ClickHouse at \S+ can't be used: it is version 18\.16\.1, but 25\.8 is the oldest that is supported$/;

describe.runIf(areHere)('access', () => {
  let certificates: Certificates;
  let open: DebianServer;
  let secure: DebianServer;
  beforeAll(async () => {
    certificates = await makeCertificates();
    [open, secure] = await Promise.all([startDebianServer(), startDebianServer({ certificates })]);
  });
  afterAll(() => Promise.all([open, secure].map((server) => server.stop())));

  test('the right user and password connect, and learn that the server is too old', async () => {
    await expect(openClickHouse(freshOptions(open))).rejects.toThrow(tooOld);
  });

  test.each([
    ['another password', { password: 'another' }, /Wrong password for user fenceline/],
    ['another name', { username: 'another' }, /Unknown user another/],
  ])('%s is refused at once', async (_, changed, reason) => {
    await expect(openClickHouse({ ...freshOptions(open), ...changed })).rejects.toThrow(reason);
  });

  test('the user name is required', async () => {
    const { username: _name, password: _password, ...nobody } = freshOptions(open);
    await expect(openClickHouse(nobody)).rejects.toThrow(/Unknown user default/);
  });

  test('over TLS with the trusted authority and the password', async () => {
    const options = { ...freshOptions(secure), tls: { ca: certificates.ca } };
    await expect(openClickHouse(options)).rejects.toThrow(tooOld);
    await expect(openClickHouse({ ...options, password: 'another' })).rejects.toThrow(
      /Wrong password for user fenceline/,
    );
    await expect(openClickHouse(freshOptions(secure))).rejects.toThrow(/certificate/);
  });
});

describe.runIf(areHere)('two shards of two replicas', () => {
  const database = 'fenceline';
  const tables = fileURLToPath(new URL('../../../schemas/clickhouse', import.meta.url));
  let cluster: DebianCluster;
  /** Servers of the first shard, then of the second. */
  let servers: DebianServer[];
  let clients: ClickHouseClient[];
  /** Finds the ids whose rows a server's shard stores, in order. */
  let storedOn: (server: number, ids: readonly string[]) => string[];

  const place = () => ({ database, cluster: cluster.name });

  /**
   * Runs a repeatable statement for all servers. When both replicas of a shard take it up at once, one of this release
   * never takes up another, so servers that say so are restarted. The error has the end of all logs.
   */
  async function ranOnAll(client: ClickHouseClient, sql: string): Promise<void> {
    const hasGivenUp = async (server: DebianServer) => /^\. Terminating\.$/m.test(await server.logTail());
    try {
      await analyticsOn(client)
        .command(sql)
        .catch(async () => {
          for (const server of servers) if (await hasGivenUp(server)) await server.restart();
          await ran(client, sql);
        });
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${await cluster.logTail()}`);
    }
  }

  beforeAll(async () => {
    cluster = await startDebianCluster(2);
    servers = cluster.shards.flat();
    const outside = clientOf(servers[0]!);
    await ranOnAll(outside, `CREATE DATABASE IF NOT EXISTS ${database} ON CLUSTER '${cluster.name}'`);
    await outside.close();
    clients = servers.map((server) => clientOf(server, database));
    expect(await migrate(analyticsOn(clients[0]!), tables, place())).toEqual(readdirSync(tables).sort());
    storedOn = await shardsOf(clients[0]!);
  });
  afterAll(async () => {
    await Promise.all((clients ?? []).map((client) => client.close()));
    await cluster?.stop();
  });

  test('each server has each table, although its default database is another', async () => {
    const engines = `SELECT engine, toUInt8(count()) AS tables FROM system.tables
      WHERE database = '${database}' GROUP BY engine ORDER BY engine`;
    const tableCount = Object.keys(shardedBy).length;
    for (const client of clients) {
      expect(await rowsOf(client, engines)).toEqual([
        { engine: 'Distributed', tables: tableCount },
        { engine: 'ReplicatedReplacingMergeTree', tables: tableCount },
      ]);
    }
  });

  test('applied migrations are known on every server, and can be repeated', async () => {
    for (const client of clients)
      await until(async () => (await migrate(analyticsOn(client), tables, place())).length === 0);
    const knowingNothing: Analytics = { ...analyticsOn(clients[2]!), query: async () => [] };
    expect(await migrate(knowingNothing, tables, place())).toEqual(readdirSync(tables).sort());
  });

  test('erased rows are gone from every shard and replica, and only these', async () => {
    const scope = { project: 'erasing', environment: 'live' as const };
    const ids = Array.from({ length: 40 }, (_, row) => `erasing-${row}`);
    const [erased, kept] = [ids.slice(0, 20).sort(), ids.slice(20).sort()];
    await until(() => isStored(clients[0]!, ids, scope.project));
    const ofProject = `project = '${scope.project}'`;
    await fetchedByAll(clients);
    for (const [index, client] of clients.entries()) {
      const expected = storedOn(index, ids);
      expect(expected.filter((id) => erased.includes(id)).length).toBeGreaterThan(0);
      await until(async () => isDeepStrictEqual(await idsIn(client, 'events_local', ofProject), expected));
    }

    await ranOnAll(clients[0]!, deleteRows('events', eventRows(scope, erased)[0]!, cluster.name));
    for (const client of clients) {
      await until(async () => isDeepStrictEqual(await idsIn(client, 'events', ofProject), kept));
      await until(async () => (await idsIn(client, 'events_local', ofProject)).every((id) => kept.includes(id)));
    }
    const alone = deleteRows('events_local', eventRows(scope, kept)[0]!, undefined);
    for (const client of clients) await ran(client, alone);
    for (const client of clients) await until(async () => (await idsIn(client, 'events', ofProject)).length === 0);
  });

  // Regression: the start ran a statement that waits for every server, and gave up after two minutes.
  test('a node starts while a replica is down', async () => {
    await servers[3]!.kill();
    expect(await migrate(analyticsOn(clients[0]!), tables, place())).toEqual([]);
    await servers[3]!.restart();
  });

  test('rows inserted twice while replicas fail are stored once, on their shard, on both replicas', async () => {
    const batches = Array.from({ length: 20 }, (_, batch) =>
      Array.from({ length: 100 }, (_, row) => `event-${batch}-${row}`),
    );
    const alive = new Set(clients.keys());
    const kill = (...dying: number[]) =>
      Promise.all(dying.map((index) => Promise.all([servers[index]!.kill(), alive.delete(index)])));
    const restart = (...dead: number[]) =>
      Promise.all(dead.map((index) => servers[index]!.restart().then(() => alive.add(index))));
    for (const [index, ids] of batches.entries()) {
      if (index === 5) await kill(1, 3);
      if (index === 10) await restart(1, 3);
      if (index === 12) await kill(0, 2);
      for (let time = 0; time < 2; time++) {
        const anyone = clients[[...alive][randomInt(alive.size)]!]!;
        await until(() => isStored(anyone, ids), { timeoutMs: sessionLimitMs });
      }
    }
    await restart(0, 2);

    await fetchedByAll(clients);
    const ofProject = "project = 'p'";
    const sent = batches.flat().sort();
    const isWhole = async (client: ClickHouseClient) =>
      isDeepStrictEqual(await idsIn(client, 'events', ofProject), sent);
    for (const client of clients) await until(() => isWhole(client), { timeoutMs: sessionLimitMs });
    for (const [index, client] of clients.entries()) {
      const expected = storedOn(index, sent);
      expect(expected.length).toBeGreaterThan(0);
      let stored: string[] = [];
      const isComplete = async () => {
        stored = await idsIn(client, 'events_local', ofProject);
        return isDeepStrictEqual(stored, expected);
      };
      const describe = () => {
        const missing = expected.filter((id) => !stored.includes(id));
        const surplus = stored.filter((id) => !expected.includes(id));
        return `server ${index} stores ${stored.length} of ${expected.length} rows; no ${missing}; also ${surplus}`;
      };
      await until(isComplete, { timeoutMs: sessionLimitMs, describe });
    }
  });
});

/**
 * Waits until each replica has fetched all rows of the other replica of its shard. Before that, a query through
 * `events` sees fewer rows when it asks the replica that lags.
 */
async function fetchedByAll(clients: readonly ClickHouseClient[]): Promise<void> {
  for (const client of clients) await ran(client, 'SYSTEM SYNC REPLICA events_local', sessionLimitMs);
}

/**
 * Asks for the shard of each user, and returns what finds the ids whose rows a server stores. A query through `events`
 * is no oracle for this, because it may ask a replica that lags.
 */
async function shardsOf(client: ClickHouseClient): Promise<(server: number, ids: readonly string[]) => string[]> {
  const users = "arrayJoin(splitByChar(',', '0,1,2,3,4,5,6,7,8,9')) AS user";
  const rows = await rowsOf<{ user: string; shard: number }>(client, `SELECT ${users}, sipHash64(user) % 2 AS shard`);
  const shardOf = new Map(rows.map(({ user, shard }) => [user, Number(shard)]));
  return (server, ids) => ids.filter((id) => shardOf.get(userOf(id)) === Math.floor(server / 2)).sort();
}

const userOf = (id: string): string => id.slice(-1);

const statementLimitS = 20;
/** A killed server counts as alive until its session with ZooKeeper ends, and accepts no rows until then. */
const sessionLimitMs = 200_000;

function clientOf({ url, username, password }: DebianServer, database?: string): ClickHouseClient {
  const settings = {
    wait_end_of_query: 1,
    distributed_ddl_task_timeout: `${statementLimitS}`,
    insert_distributed_sync: 1,
  } as const;
  const log = { level: ClickHouseLogLevel.OFF };
  // These servers close an idle connection without a word. A statement that is sent at that moment fails.
  const connections = { keep_alive: { enabled: false }, log, ...(database && { database }) };
  return createClient({ url, username, password, ...connections, clickhouse_settings: settings });
}

async function rowsOf<Row>(client: ClickHouseClient, query: string): Promise<Row[]> {
  return (await client.query({ query, format: 'JSONEachRow' })).json<Row>();
}

/**
 * Returns analytics without views, because this release does not know their parameters. It does not know the type of
 * times in rows either, so it gets the names of migrations as values.
 */
const analyticsOn = (client: ClickHouseClient): Analytics => ({
  async command(sql) {
    if (!sql.includes('CREATE OR REPLACE VIEW')) await client.command({ query: inTheWordsOf2018(sql) });
  },
  query: (sql) => rowsOf(client, sql),
  async insert(table, rows) {
    const names = Buffer.from(rows)
      .toString('latin1')
      .match(/\d{3}-[a-z-]+\.sql/g)!;
    await client.command({
      query: `INSERT INTO ${table} (name, applied_at) VALUES ${names.map((name) => `('${name}', now())`).join()}`,
    });
  },
  file: () => Promise.reject(new Error('nobody asks for files here')),
});

/** Runs a repeatable statement until it succeeds. The error after the timeout has the last reason. */
async function ran(client: ClickHouseClient, sql: string, timeoutMs?: number): Promise<void> {
  let reason: unknown;
  const succeeds = () =>
    analyticsOn(client)
      .command(sql)
      .then(
        () => true,
        (error: unknown) => {
          reason = error;
          return false;
        },
      );
  const describe = () => `${sql}: ${reason}`;
  await until(succeeds, { describe, ...(timeoutMs !== undefined && { timeoutMs }) });
}

/**
 * Stores rows of ten users. Returns false if the server, or one that it needs, is down; some rows may be stored then.
 */
async function isStored(client: ClickHouseClient, ids: readonly string[], project = 'p'): Promise<boolean> {
  const at = '2026-03-01 00:00:00';
  const rowOf = (id: string) => ({
    project,
    environment: 'live',
    id,
    user: userOf(id),
    created_at: at,
    actual_created_at: at,
  });
  const rows = ids.map((id) => JSON.stringify(rowOf(id))).join('\n');
  return client.command({ query: `INSERT INTO events FORMAT JSONEachRow ${rows}` }).then(
    () => true,
    () => false,
  );
}

/** Reads ids with FINAL, which requires the whole key in this release. */
async function idsIn(client: ClickHouseClient, table: string, condition = '1'): Promise<string[]> {
  const question = `SELECT project, environment, created_at, id FROM ${table} FINAL WHERE ${condition} ORDER BY id`;
  return (await rowsOf<{ id: string }>(client, question)).map(({ id }) => id);
}
