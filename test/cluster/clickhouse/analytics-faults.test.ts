/** Outages of a ClickHouse server, and their effect on inserts and queries. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ClickHouseAnalytics } from '../../../backends/cluster/clickhouse/analytics.js';
import type { ClickHouseOptions } from '../../../backends/cluster/options.js';
import { Patience } from '../../../backends/cluster/patience.js';
import { ServiceError } from '../../../backends/cluster/service-error.js';
import { namedRows } from '../../../schemas/testing/rows.js';
import { makeCertificates } from '../../../testing/services/certificates.js';
import { type ClickHouseServer, startClickHouse } from '../../../testing/services/clickhouse/clickhouse.js';
import { type BadNetwork, startProxy } from '../../../testing/services/proxy.js';
import { until } from '../../../testing/until.js';
import { openClickHouse } from '../../support/clickhouse.js';
import { freshOptions } from './sites.js';

let server: ClickHouseServer;
beforeAll(async () => {
  server = await startClickHouse();
});
afterAll(() => server.stop());

/**
 * Returns the statement for a table with one column, by which rows are replaced; it may remember earlier inserts. A
 * statement whose answer is lost is sent again, so it must be repeatable.
 */
const tableOf = (settings = '') =>
  `CREATE TABLE IF NOT EXISTS numbers (n UInt32) ENGINE = ReplacingMergeTree ORDER BY n ${settings}`;
const rows = (from: number, count: number): Buffer =>
  namedRows(...Array.from({ length: count }, (_, i) => ({ n: from + i })));

async function opened(options: ClickHouseOptions, table = tableOf()): Promise<ClickHouseAnalytics> {
  const analytics = await openClickHouse(options);
  await analytics.command(table);
  return analytics;
}

/** Counts the rows and those that occur twice, and returns the largest. */
const counted = async (analytics: ClickHouseAnalytics, final: 'FINAL' | '') =>
  (
    await analytics.query<{ rows: number; twice: number; last: number }>(
      `SELECT count() AS rows, count() - uniqExact(n) AS twice, max(n) AS last FROM numbers ${final}`,
    )
  )[0];

/** Returns the error of the work; undefined if it succeeds. */
const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a server that goes down', () => {
  afterEach(() => server.restart());

  // They were repeated for two minutes.
  test('while a node stops: inserts and deletions are not repeated any more', { timeout: 100_000 }, async () => {
    const analytics = await opened(freshOptions(server));
    await server.kill();
    const giveUp = new AbortController();
    const failures = [
      analytics.insert('numbers', rows(0, 10), giveUp.signal),
      analytics.command('ALTER TABLE numbers DELETE WHERE n = 1', giveUp.signal),
    ].map(failureOf);
    giveUp.abort();
    expect(await Promise.all(failures)).toEqual([expect.any(Error), expect.any(Error)]);
    await analytics.close();
  });

  test('during inserts: they wait and are stored once; queries fail', async () => {
    const analytics = await opened(freshOptions(server));
    const batchRows = 1_000;
    let batches = 0;
    let isEnough = false;
    const writers = Array.from({ length: 3 }, async () => {
      while (!isEnough) await analytics.insert('numbers', rows(batchRows * batches++, batchRows));
    });
    await until(() => batches > 10);
    await server.kill();
    // After an insert that was answered before the end, each writer may send one more.
    const before = batches;
    for (let round = 0; round < 3; round++) {
      const refusals = await Promise.all([1, 2].map(() => failureOf(analytics.query('SELECT 1'))));
      expect(refusals).toMatchObject(Array(2).fill({ code: 'unavailable' }));
    }
    expect(batches).toBeLessThanOrEqual(before + writers.length);
    await server.restart();
    await until(() => batches > before + 10);
    isEnough = true;
    await Promise.all(writers);
    expect(await counted(analytics, 'FINAL')).toEqual({
      rows: batches * batchRows,
      twice: 0,
      last: batches * batchRows - 1,
    });
    await analytics.close();
  });

  // The process ended after two minutes, with all its other roles, and so did each that followed it. Later it waited,
  // and its log said nothing of it.
  test('for longer than the limit: inserts wait until it is back, or until the node stops', async () => {
    const patience = new Patience();
    const options = freshOptions(server);
    const problems: string[] = [];
    const onProblem = (problem: string) => void problems.push(problem);
    const analytics = await openClickHouse(options, { patience, outageLimitMs: 500, onProblem });
    await analytics.command(tableOf());
    await server.kill();
    const sinceMs = performance.now();
    const insert = analytics.insert('numbers', rows(0, 10));
    expect(await failureOf(analytics.command(tableOf()))).toBeInstanceOf(Error);
    await until(() => performance.now() > sinceMs + 2_000 && patience.waits > 3);
    expect(problems[0]).toMatch(/^ClickHouse at http:\S+ can't be used: .*; rows wait on their topics$/);
    expect(new Set(problems).size, 'each reason once').toBe(problems.length);
    await server.restart();
    await insert;
    const patient = await opened(options);
    expect(await counted(patient, 'FINAL')).toEqual({ rows: 10, twice: 0, last: 9 });

    await server.kill();
    const ending = failureOf(analytics.insert('numbers', rows(10, 10)));
    patience.end();
    expect(await ending).toBeInstanceOf(Error);
    await Promise.all([analytics.close(), patient.close()]);
  });

  test('repeatedly: no stored rows are lost', async () => {
    const analytics = await opened(freshOptions(server));
    let batches = 0;
    let isEnough = false;
    const writer = (async () => {
      while (!isEnough) await analytics.insert('numbers', rows(100 * batches++, 100));
    })();
    for (let round = 0; round < 5; round++) {
      const before = batches;
      await until(() => batches > before);
      // Each time at another moment of an insert.
      await delay(5 * round);
      await server.kill();
      await server.restart();
    }
    isEnough = true;
    await writer;
    expect(await counted(analytics, 'FINAL')).toEqual({ rows: batches * 100, twice: 0, last: batches * 100 - 1 });
    await analytics.close();
  });

  test('during a start: the start waits', async () => {
    await server.kill();
    const opening = openClickHouse(freshOptions(server));
    await server.restart();
    await (await opening).close();
  });

  test('during a response: results are never partial', async () => {
    const network = await startProxy({ host: '127.0.0.1', port: Number(new URL(server.url).port) });
    const analytics = await openClickHouse(through(network, freshOptions(server)));
    network.delayMs = 20;
    const queries = "SELECT number, repeat('x', 50) AS filling FROM numbers(1000000)";
    const answers = [analytics.file(queries, 'CSVWithNames'), analytics.query(queries)].map((each) =>
      each.then(
        () => 'answered',
        () => 'failed',
      ),
    );
    await until(() => network.answeredBytes > 1_000_000);
    await server.kill();
    expect(await Promise.all(answers)).toEqual(['failed', 'failed']);
    await server.restart();
    await analytics.close();
    await network.stop();
  });
});

const through = (network: BadNetwork, options: ClickHouseOptions): ClickHouseOptions => ({
  ...options,
  url: `http://${network.host}:${network.port}`,
});

describe('a server that hangs', () => {
  afterEach(() => server.resume());

  test('queries fail, inserts wait', async () => {
    const options = freshOptions(server);
    const patient = await opened(options);
    const analytics = await openClickHouse({ ...options, requestTimeoutMs: 1_000 });
    await server.pause();
    const insert = analytics.insert('numbers', rows(0, 10));
    expect(await failureOf(analytics.query('SELECT 1'))).toMatchObject({ code: 'unavailable' });
    await server.resume();
    await insert;
    expect(await counted(patient, 'FINAL')).toEqual({ rows: 10, twice: 0, last: 9 });
    await Promise.all([analytics.close(), patient.close()]);
  });

  test('a bounded number of queries waits, no longer than one alone; more are rejected', async () => {
    const network = await startProxy({ host: '127.0.0.1', port: Number(new URL(server.url).port) });
    const analytics = await openClickHouse({ ...through(network, freshOptions(server)), requestTimeoutMs: 2_000 });
    network.hold();
    const failures = await Promise.all(Array.from({ length: 150 }, () => failureOf(analytics.query('SELECT 1'))));
    const codes = failures.map((failure) => (failure as { code?: string } | undefined)?.code);
    expect(codes).toEqual([...Array(100).fill('unavailable'), ...Array(50).fill('overloaded')]);
    // The others failed while they waited for a connection. If their time began with the connection, they would have
    // been sent.
    expect(network.heldPieces).toBeGreaterThan(0);
    expect(network.heldPieces).toBeLessThan(50);
    network.mend();
    await analytics.close();
    await network.stop();
  });
});

test('an insert whose response is lost is repeated, and stored once with a deduplication window', async () => {
  const network = await startProxy({ host: '127.0.0.1', port: Number(new URL(server.url).port) });
  const options = freshOptions(server);
  const direct = await opened(options, tableOf('SETTINGS non_replicated_deduplication_window = 100'));
  const analytics = await openClickHouse(through(network, { ...options, requestTimeoutMs: 1_000 }));
  network.dropsAnswers = true;
  const insert = analytics.insert('numbers', rows(0, 100));
  await until(async () => (await counted(direct, ''))?.rows === 100);
  network.mend();
  await insert;
  // The same rows from another client are another insert.
  expect(await counted(direct, '')).toEqual({ rows: 100, twice: 0, last: 99 });
  await direct.insert('numbers', rows(0, 100));
  expect(await counted(direct, '')).toEqual({ rows: 200, twice: 100, last: 99 });
  await Promise.all([analytics.close(), direct.close()]);
  await network.stop();
});

describe('a client without access', () => {
  test('with a wrong password fails at once, without the password in the error', async () => {
    const password = 'a secret that nobody should read';
    const error = await failureOf(openClickHouse({ ...freshOptions(server), password }));
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({
      message: expect.stringMatching(`^ClickHouse at ${server.url} .*Authentication failed`),
    });
    expect(JSON.stringify([error, String(error), (error as Error).cause])).not.toContain(password);
  });

  test('fails at once with an untrusted certificate, and connects with a trusted one', async () => {
    const certificates = await makeCertificates();
    const secure = await startClickHouse({ tls: { certificates } });
    const open = (ca?: string, url = secure.url) =>
      openClickHouse({ ...freshOptions(secure), url, ...(ca && { tls: { ca } }) });
    try {
      const { ca: other } = await makeCertificates();
      for (const ca of [undefined, other]) {
        const error = await failureOf(open(ca));
        expect(error).toMatchObject({ message: expect.stringMatching(`^ClickHouse at ${secure.url} .*certificate`) });
      }
      await expect(open(certificates.ca, secure.url.replace('https', 'http'))).rejects.toThrow(
        'is not an https address',
      );
      const analytics = await open(certificates.ca);
      await analytics.command(tableOf());
      await analytics.insert('numbers', rows(0, 30_000));
      expect(await counted(analytics, '')).toEqual({ rows: 30_000, twice: 0, last: 29_999 });
      await analytics.close();
    } finally {
      await secure.stop();
    }
  });
});

test('parameters longer than a URL are bound', async () => {
  const analytics = await openClickHouse(freshOptions(server));
  // A server accepts 128 KiB for each parameter.
  const ids = Array.from({ length: 9_000 }, (_, index) => `it's ${index}`);
  const sql = 'SELECT length({ids:Array(String)}) AS count, {ids:Array(String)}[9000] AS last';
  expect(await analytics.query(sql, { ids })).toEqual([{ count: 9_000, last: "it's 8999" }]);
  await analytics.close();
});
