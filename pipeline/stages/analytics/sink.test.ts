import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { codecs } from '../../../schemas/codecs.js';
import { deriveId } from '../../../schemas/ids.js';
import type { Attempt, DeadLetter, Event, Location, Outcome, Rejection } from '../../../schemas/records.js';
import { exampleOutcome } from '../../../schemas/testing/examples.js';
import * as arbitrary from '../../../schemas/testing/records.js';
import { eventJson } from '../../../schemas/wire/user.js';
import { until } from '../../../testing/until.js';
import { type Analytics, type Positions, type Subscription, topics } from '../../ports.js';
import type { BadRecord } from '../../records/decode.js';
import { appendDeadLetters } from '../dead-letters.js';
import { noMetrics } from '../metrics.js';
import { openTestAnalytics } from '../testing/analytics.js';
import { clock, idOf, keyOf, location, plain, TestNode, withPositionRepairedMeanwhile } from '../testing/node.js';
import { createTestTables } from '../testing/tables.js';
import { migrate } from './migrate.js';
import { type AnalyticsSinkParts, createAnalyticsSink } from './sink.js';

const sqlFolder = fileURLToPath(new URL('../../../schemas/clickhouse', import.meta.url));
const bounds = { maxRows: 500, maxDelayMs: 50, usersEveryMs: 100, maxDeadLetterShare: 0.5 };

let analytics: Awaited<ReturnType<typeof openTestAnalytics>>;
let node: TestNode;
let sinks: Subscription[] = [];

beforeAll(async () => {
  analytics = await openTestAnalytics();
  await createTestTables(analytics);
});
afterAll(() => analytics.close());

beforeEach(async () => {
  node = await TestNode.open({ partitions: 3 });
  for (const table of ['locations', 'events', 'users', 'webhook_attempts', 'rejections'])
    await analytics.command(`TRUNCATE TABLE ${table}`);
});
afterEach(async () => {
  await stop();
  await node.dispose();
});

function start(parts: Partial<AnalyticsSinkParts> = {}): Subscription {
  const { log, positions } = node.embedded;
  const sink = createAnalyticsSink({ log, positions, analytics, clock, bounds, ...parts });
  sinks.push(sink);
  return sink;
}

const stop = () => Promise.all(sinks.splice(0).map((sink) => sink.close()));

// Within the tables' time to live, or ClickHouse would drop the rows.
const nowMs = Date.now();

const outcome = (number: number, fields: Partial<Location> = {}, rest: Partial<Outcome> = {}): Outcome =>
  exampleOutcome({
    location: location({
      id: idOf('location', number),
      deviceId: `device ${number % 7}`,
      occurredAt: nowMs + number,
      receivedAt: nowMs + number,
      ...fields,
    }),
    user: idOf('user', number % 7),
    userCreatedAt: nowMs,
    ...rest,
  });

const append = (...outcomes: Outcome[]) =>
  node.embedded.log.append(
    topics.outcomes,
    outcomes.map((one) => ({ key: keyOf(one.location), value: codecs.outcome.encode(one) })),
  );

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index);

async function ids(table: string, column = 'id'): Promise<string[]> {
  const rows = await analytics.query<{ id: string }>(`SELECT ${column} AS id FROM ${table} FINAL ORDER BY id`);
  return rows.map(({ id }) => id);
}

const idsOf = (outcomes: readonly Outcome[]): string[] => outcomes.map(({ location: { id } }) => id).sort();

// Inserts were repeated for two minutes while the sink closed, longer than a supervisor waits, and then it failed.
test('regression: rows that ClickHouse refuses while the sink closes are left to the next sink', async () => {
  let refused = 0;
  const away: Analytics = {
    command: analytics.command,
    query: analytics.query,
    file: analytics.file,
    insert: (_table, _rows, signal) =>
      new Promise((_, reject) => {
        refused += 1;
        signal?.addEventListener('abort', () => reject(new Error('ClickHouse does not answer')));
      }),
  };
  const sink = start({ analytics: away, bounds: { ...bounds, giveUpAfterMs: 100 } });
  const outcomes = range(0, 1_200).map((number) => outcome(number));
  await append(...outcomes);
  await until(() => refused > 0);
  await sink.close();
  await sink.done;
  start();
  await until(async () => (await ids('locations')).length === 1_200);
  expect(await ids('locations')).toEqual(idsOf(outcomes));
});

describe('locations', () => {
  test('become rows soon', async () => {
    start();
    const outcomes = range(0, 1_200).map((number) => outcome(number));
    await append(...outcomes);
    await until(async () => (await ids('locations')).length === 1_200);
    expect(await ids('locations')).toEqual(idsOf(outcomes));
  });

  test('are stored after the maximum delay, however few they are', async () => {
    start();
    await append(outcome(1));
    await until(async () => (await ids('locations')).length === 1);
  });

  test('are stored as soon as no more arrive, if they are many: an insert would not become larger', async () => {
    const maxDelayMs = 600_000;
    start({ bounds: { ...bounds, maxRows: 2_000, maxDelayMs, usersEveryMs: maxDelayMs, quietMs: 20 } });
    const outcomes = range(0, 1_200).map((number) => outcome(number, { deviceId: 'a' }));
    await append(...outcomes);
    await until(async () => (await ids('locations')).length === 1_200);
    expect(await ids('locations')).toEqual(idsOf(outcomes));
  });

  test('regression: are stored when a position was repaired while the log compared the former one', async () => {
    start({ log: withPositionRepairedMeanwhile(node.embedded.log) });
    await append(outcome(1));
    await until(async () => (await ids('locations')).length === 1);
  });

  test('have the values of their outcomes', async () => {
    start();
    const one = outcome(
      5,
      {
        userId: 'ann',
        source: 'BACKGROUND',
        ip: '192.0.2.1',
        latitude: -33.25,
        longitude: 151.5,
        accuracy_m: 12.5,
        stopped: true,
      },
      { result: 'stale', geofences: [idOf('fence', 1), idOf('fence', 2)], events: [idOf('event', 1)] },
    );
    await append(one);
    await until(async () => (await ids('locations')).length === 1);
    const [row] = await analytics.query(
      'SELECT *, toUnixTimestamp64Milli(occurred_at) AS occurredAt FROM locations FINAL',
    );
    expect(row).toMatchObject({
      project: one.location.project,
      environment: 'test',
      id: one.location.id,
      device_id: 'device 5',
      user: one.user,
      user_id: 'ann',
      latitude: -33.25,
      longitude: 151.5,
      accuracy_m: 12.5,
      foreground: true,
      stopped: true,
      replayed: false,
      source: 'BACKGROUND',
      ip: '192.0.2.1',
      result: 'stale',
      geofences: one.geofences,
      events: one.events,
    });
    expect(Number((row as { occurredAt: string }).occurredAt)).toBe(one.location.occurredAt);
  });
});

describe('duplicates', () => {
  test('replace each other when a sink stopped before its position advanced', async () => {
    const outcomes = range(0, 900).map((number) => outcome(number));
    const { positions } = node.embedded;
    const forgetful: Positions = { ...positions, set: async () => {} };
    await append(...outcomes.slice(0, 600));
    start({ positions: forgetful });
    await until(async () => (await ids('locations')).length === 600);
    await stop();
    await append(...outcomes.slice(600));
    start();
    await until(async () => (await ids('locations')).length === 900);
    expect(await ids('locations')).toEqual(idsOf(outcomes));
    expect(await ids('users', 'user')).toHaveLength(7);
  });

  test('a failed insert does not advance the position, and the next sink writes its rows', async () => {
    const outcomes = range(0, 50).map((number) => outcome(number));
    const failing: Analytics = {
      ...analytics,
      async insert(table, rows) {
        if (table === 'users') throw new Error('disk full');
        await analytics.insert(table, rows);
      },
    };
    const failed = start({ analytics: failing });
    const stopped = expect(failed.done).rejects.toThrow('disk full');
    await append(...outcomes);
    await stopped;
    await failed.close().catch(() => {});
    sinks = [];
    start();
    await until(async () => (await ids('users', 'user')).length === 7);
    expect(await ids('locations')).toEqual(idsOf(outcomes));
  });

  test('closing stores buffered rows', async () => {
    start({ bounds: { ...bounds, maxDelayMs: 60_000, usersEveryMs: 60_000 } });
    const outcomes = range(0, 40).map((number) => outcome(number));
    await append(...outcomes);
    const { log } = node.embedded;
    await until(async () => (await log.bounds(topics.outcomes, 0)).end > 0);
    await stop();
    start();
    await until(async () => (await ids('locations')).length === 40);
  });
});

describe('users', () => {
  test('have the row of their newest applied location', async () => {
    start();
    await append(
      ...range(0, 700).map((number) => outcome(number, {}, { result: number >= 693 ? 'stale' : 'applied' })),
    );
    await until(async () => (await ids('users', 'user')).length === 7);
    await until(async () => (await newest())[0] === nowMs + 686);
    expect(await newest()).toEqual(range(686, 693).map((number) => nowMs + number));
  });

  const newest = async (): Promise<number[]> => {
    const rows = await analytics.query<{ at: string }>(
      'SELECT toUnixTimestamp64Milli(updated_at) AS at FROM users FINAL ORDER BY updated_at',
    );
    return rows.map(({ at }) => Number(at));
  };

  test('in large numbers are written at intervals, and the position waits for them', async () => {
    const positionsSet: number[] = [];
    const { positions } = node.embedded;
    const watched: Positions = {
      ...positions,
      async set(group, topic, partition, nextOffset) {
        positionsSet.push((await ids('users', 'user')).length);
        await positions.set(group, topic, partition, nextOffset);
      },
    };
    start({ positions: watched });
    const outcomes = range(0, 3_000).map((number) =>
      outcome(number, { deviceId: `device ${number}` }, { user: idOf('user', number) }),
    );
    await append(...outcomes);
    await until(async () => (await ids('users', 'user')).length === 3_000);
    await until(() => positionsSet.at(-1) === 3_000);
    expect(await ids('locations')).toEqual(idsOf(outcomes));
  });
});

describe('events', () => {
  test('become one row each, with the body as in the API', async () => {
    const events = uniqueEvents(fc.sample(arbitrary.event, { numRuns: 60, seed: 7 }));
    const records = events.map((event) => ({ key: event.project, value: codecs.event.encode(event) }));
    start();
    await node.embedded.log.append(topics.events, [...records, ...records]);
    await until(async () => (await ids('events')).length === events.length);
    const rows = await analytics.query<{ id: string; body: string }>('SELECT id, body FROM events FINAL ORDER BY id');
    const expected = events.map((event) => ({ id: event.id, body: plain(eventJson(event)) }));
    expect(rows.map(({ id, body }) => ({ id, body: JSON.parse(body) }))).toEqual(
      expected.sort((a, b) => (a.id < b.id ? -1 : 1)),
    );
  });

  const uniqueEvents = (events: readonly Event[]): Event[] =>
    events.map((event, index) => ({
      ...event,
      id: idOf('event', index),
      createdAt: nowMs + index,
      actualCreatedAt: nowMs + index,
    }));

  test('that cannot be decoded become dead letters, and the partition continues', async () => {
    start();
    const [event] = uniqueEvents(fc.sample(arbitrary.event, { numRuns: 1, seed: 3 })) as [Event];
    await node.embedded.log.append(topics.events, [
      { key: 'key', value: Buffer.from('bad') },
      { key: 'key', value: codecs.event.encode(event) },
    ]);
    await until(async () => (await ids('events')).length === 1);
    expect(await node.deadLetters()).toMatchObject([
      { topic: 'events', reason: 'undecodable', value: Buffer.from('bad') },
    ]);
  });
});

describe('attempts', () => {
  // Buffers were bounded by rows only. With bodies of a megabyte and ClickHouse away, they took gigabytes.
  test('regression: of large bodies are stored when they have too many bytes, however few they are', async () => {
    const maxBytes = 50_000;
    const [one] = fc.sample(arbitrary.attempt, { numRuns: 1, seed: 9 }) as [Attempt];
    const body = Buffer.alloc(10_000, 'x');
    const records = range(0, 60).map((number) => {
      const attempt = { ...one, id: idOf('attempt', number), at: nowMs, delivery: { ...one.delivery, body } };
      return { key: one.delivery.webhook, value: codecs.attempt.encode(attempt) };
    });
    await node.embedded.log.append(topics.attempts, records);
    const inserted: number[] = [];
    const insert: Analytics['insert'] = (table, rows) => {
      inserted.push(rows.length);
      return analytics.insert(table, rows);
    };
    const { log } = node.embedded;
    start({
      log: { ...log, consume: (options) => log.consume({ ...options, maxBatchRecords: 1 }) },
      analytics: { ...analytics, insert },
      bounds: { maxRows: 1_000_000, maxBytes, maxDelayMs: 600_000, maxDeadLetterShare: 0.5 },
    });
    await until(async () => (await ids('webhook_attempts')).length >= 50);
    expect(Math.max(...inserted)).toBeLessThan(maxBytes + 2 * body.length);
  });

  test('become one row each, with the values of the attempt', async () => {
    const attempts = fc
      .sample(arbitrary.attempt, { numRuns: 60, seed: 9 })
      .map((attempt, index): Attempt => ({ ...attempt, id: idOf('attempt', index), at: nowMs + index }));
    const records = attempts.map((attempt) => ({
      key: attempt.delivery.webhook,
      value: codecs.attempt.encode(attempt),
    }));
    start();
    await node.embedded.log.append(topics.attempts, [...records, ...records]);
    await until(async () => (await ids('webhook_attempts')).length === attempts.length);
    const rows = await analytics.query(
      `SELECT * EXCEPT (at, next_attempt_at), toUnixTimestamp64Milli(at) AS at,
         toUnixTimestamp64Milli(next_attempt_at) AS next_attempt_at
       FROM webhook_attempts FINAL ORDER BY at`,
    );
    expect(rows).toEqual(attempts.map(storedAttempt));
  });

  const storedAttempt = ({
    delivery,
    duration_ms,
    nextAttemptAt,
    responseHeaders,
    responseBody,
    ...attempt
  }: Attempt) => ({
    ...attempt,
    project: delivery.project,
    environment: delivery.environment,
    webhook: delivery.webhook,
    delivery: delivery.id,
    events: delivery.events,
    reason: delivery.reason,
    // JSON has no negative zero.
    duration_ms: duration_ms === 0 ? 0 : duration_ms,
    message: attempt.message ?? '',
    next_attempt_at: nextAttemptAt,
    response_headers: responseHeaders ?? '',
    response_body: responseBody?.toString('utf8') ?? '',
    request_body: delivery.body.toString('utf8'),
  });
});

describe('rejections', () => {
  const rejections = () =>
    analytics.query(
      'SELECT * EXCEPT at, toUnixTimestamp64Milli(at) AS at FROM rejections FINAL ORDER BY rejections.at, id',
    );

  test('become one row each', async () => {
    const sample = fc
      .sample(arbitrary.rejection, { numRuns: 40, seed: 11 })
      .map((rejection, index): Rejection => ({ ...rejection, id: idOf('rejection', index), at: nowMs + index }));
    const records = sample.map((rejection) => ({ key: rejection.project, value: codecs.rejection.encode(rejection) }));
    start();
    await node.embedded.log.append(topics.rejections, [...records, ...records]);
    await until(async () => (await ids('rejections')).length === sample.length);
    expect(await rejections()).toEqual(sample.map((rejection) => ({ ...rejection, param: rejection.param ?? '' })));
  });

  test('a partition with mostly unreadable records is halted, and others continue', async () => {
    const alerts: object[] = [];
    const { log } = node.embedded;
    const key = 'poison';
    const partition = log.partitionOf(topics.events, key);
    start({ onAlert: (alert) => alerts.push(alert) });
    const poison = Array.from({ length: 150 }, () => ({ key, value: Buffer.from('bad') }));
    await log.append(topics.events, poison);
    await until(async () => alerts.length > 0);
    expect(alerts).toMatchObject([
      { kind: 'halted', topic: 'events', partition, dead: 100, seen: 100, offset: 99, reason: 'undecodable' },
    ]);
    await append(...range(1, 8).map((number) => outcome(number)));
    await until(async () => (await ids('locations')).length === 7);
    await stop();
    start({ bounds: { ...bounds, maxDeadLetterShare: 1 } });
    await until(async () => (await node.deadLetters()).length === 150);
  });

  test('include dead letters of locations and no other dead letters', async () => {
    const project = idOf('project', 1);
    const letter = (offset: number, key: string | null, fields: Partial<DeadLetter> = {}): DeadLetter => ({
      topic: topics.locations,
      partition: 2,
      offset,
      key: key === null ? null : Buffer.from(key),
      value: null,
      reason: 'undecodable',
      message: 'why',
      failedAt: nowMs + offset,
      ...fields,
    });
    const letters = [
      letter(1, `${project}/live/a/b`),
      letter(2, null),
      letter(3, 'no/key/of ours'),
      letter(4, `${project}/test/c`, { topic: topics.events }),
      letter(5, `${project}/test/c`, { reason: 'unknown_project' }),
    ];
    const records = letters.map((one) => ({ key: 'any', value: codecs.deadLetter.encode(one) }));
    start();
    await node.embedded.log.append(topics.deadLetters, [...records, ...records]);
    await until(async () => (await ids('rejections')).length === 4);
    const unknown = { project: '', environment: '', code: 'undecodable' };
    expect(await rejections()).toMatchObject(
      [
        { project, environment: 'live', code: 'undecodable' },
        unknown,
        unknown,
        { project, environment: 'test', code: 'unknown_project' },
      ].map((row) => ({ ...row, endpoint: 'stage', param: '', count: 1 })),
    );
  });
});

// Redis fell back, and a bad location was evaluated again. The time of its dead letter is in the key of its row. It
// was the time of the evaluation, so the location was counted twice.
test('regression: a location whose dead letter is made again is counted once', async () => {
  const key = `${idOf('project', 1)}/live/a/b`;
  const badAt = (offset: number): BadRecord => {
    const record = { key, value: Buffer.from('bad'), partition: 0, offset, timestamp: nowMs };
    return { record, reason: 'undecodable', message: 'why' };
  };
  start();
  const { log } = node.embedded;
  for (const offset of [7, 7, 8])
    await appendDeadLetters({ log, topic: topics.locations, codec: codecs.deadLetter, metrics: noMetrics }, [
      badAt(offset),
    ]);
  // Letters of one key are stored in order.
  const last = deriveId('dead-letter', topics.locations, '0', '8');
  await until(async () => (await ids('rejections')).includes(last));
  expect(await ids('rejections')).toHaveLength(2);
});

test('migrations run once each, in order', async () => {
  expect(await migrate(analytics, sqlFolder)).toEqual([]);
  const rows = await analytics.query<{ name: string }>('SELECT name FROM schema_migrations FINAL ORDER BY name');
  expect(rows.map(({ name }) => name)).toEqual(readdirSync(sqlFolder).sort());
});
