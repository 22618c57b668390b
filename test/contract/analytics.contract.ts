/** The contract of every Analytics. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Analytics } from '../../pipeline/ports.js';
import { type NamedValues, namedRows } from '../../schemas/testing/rows.js';
import { until } from '../../testing/until.js';

/** A new, empty database. `open` opens it, also again after a close. */
export interface AnalyticsSite {
  open(): Promise<Analytics & { close(): Promise<void> }>;
  remove(): Promise<void>;
}

const tables = ['001-locations', '002-events', '003-users'];
const ddlOf = (name: string): string =>
  readFileSync(new URL(`../../schemas/clickhouse/${name}.sql`, import.meta.url), 'utf8');

const occurredAt = Date.parse('2026-03-04T05:06:07.089Z');

const locationRow = (id: string, changed: NamedValues = {}): NamedValues => ({
  project: 'p1',
  environment: 'test',
  id,
  device_id: 'd1',
  user: 'u1',
  user_id: '',
  occurred_at: new Date(occurredAt),
  received_at: new Date(),
  latitude: 40.7,
  longitude: -73.9,
  accuracy_m: 5,
  foreground: true,
  stopped: false,
  replayed: false,
  source: '',
  ip: '2001:db8::1',
  result: 'applied',
  geofences: ['g1', `it's "g2"`],
  events: [],
  ...changed,
});

const text = (file: Uint8Array): string => Buffer.from(file).toString('utf8');

/** Defines the tests of the contract for one implementation. `site` makes a new place for each test. */
export function describeAnalyticsContract(name: string, site: () => Promise<AnalyticsSite>): void {
  const onAnalytics = (use: (analytics: Analytics) => Promise<void>) => async () => {
    const place = await site();
    const analytics = await place.open();
    try {
      for (const table of tables) await analytics.command(ddlOf(table));
      await use(analytics);
    } finally {
      await analytics.close();
      await place.remove();
    }
  };

  describe(`${name}: analytics`, () => {
    test(
      'rows are returned unchanged; times are ISO texts without a zone',
      onAnalytics(async (analytics) => {
        await analytics.insert(
          'locations',
          namedRows(locationRow('a'), locationRow('b', { occurred_at: new Date(occurredAt + 1), stopped: true })),
        );
        const rows = await analytics.query(
          'SELECT id, toUnixTimestamp64Milli(occurred_at) AS ms, geofences, stopped FROM locations ORDER BY id',
        );
        expect(rows).toEqual([
          { id: 'a', ms: occurredAt, geofences: ['g1', `it's "g2"`], stopped: false },
          { id: 'b', ms: occurredAt + 1, geofences: ['g1', `it's "g2"`], stopped: true },
        ]);
      }),
    );

    test(
      'omitted columns get their defaults',
      onAnalytics(async (analytics) => {
        await analytics.insert('locations', namedRows({ received_at: new Date(), id: 'a' }));
        expect(await analytics.query('SELECT id, foreground, geofences FROM locations')).toEqual([
          { id: 'a', foreground: false, geofences: [] },
        ]);
      }),
    );

    test(
      'a row that is inserted again replaces itself',
      onAnalytics(async (analytics) => {
        await analytics.insert('locations', namedRows(locationRow('a')));
        await analytics.insert('locations', namedRows(locationRow('a'), locationRow('b')));
        expect(await analytics.query('SELECT count() AS n FROM locations FINAL')).toEqual([{ n: 2 }]);
      }),
    );

    test(
      'parameters of any content are bound',
      onAnalytics(async (analytics) => {
        const nasty = `x' OR 1=1 -- \\ {a} \n \t \r "`;
        await analytics.insert('locations', namedRows(locationRow('a', { device_id: nasty }), locationRow('b')));
        const found = (device: string) =>
          analytics.query('SELECT id FROM locations WHERE device_id = {device:String}', { device });
        expect(await found(nasty)).toEqual([{ id: 'a' }]);
        expect(await found(`' OR '1'='1`)).toEqual([]);
        const since = await analytics.query(
          'SELECT id FROM locations WHERE occurred_at >= fromUnixTimestamp64Milli({ms:Int64}) ORDER BY id',
          {
            ms: occurredAt,
          },
        );
        expect(since).toEqual([{ id: 'a' }, { id: 'b' }]);
        expect(
          await analytics.query('SELECT id FROM locations WHERE id IN {ids:Array(String)}', { ids: ['b', `c'`] }),
        ).toEqual([{ id: 'b' }]);
      }),
    );

    test(
      'a failed statement rejects and says why; the next one works',
      onAnalytics(async (analytics) => {
        await expect(analytics.query('SELECT nothing FROM nowhere')).rejects.toMatchObject({
          code: '60',
          type: 'UNKNOWN_TABLE',
        });
        await expect(
          analytics.insert('locations', namedRows(locationRow('a', { latitude: 'north' }))),
        ).rejects.toThrow();
        expect(await analytics.query('SELECT count() AS n FROM locations')).toEqual([{ n: 0 }]);
      }),
    );

    test(
      'inserts and queries run concurrently; an empty insert does nothing',
      onAnalytics(async (analytics) => {
        await analytics.insert('locations', namedRows());
        const inserts = Array.from({ length: 5 }, (_, i) =>
          analytics.insert('locations', namedRows(locationRow(`${i}`))),
        );
        const queries = Array.from({ length: 5 }, () => analytics.query('SELECT count() AS n FROM locations'));
        await Promise.all([...inserts, ...queries]);
        expect(await analytics.query('SELECT count() AS n FROM locations')).toEqual([{ n: 5 }]);
      }),
    );

    // Regression: a query went on for up to 20 seconds after its client had left.
    test.each(['query', 'file'] as const)('a %s whose signal aborts is cancelled', async (kind) => {
      await onAnalytics(async (analytics) => {
        const id = randomUUID();
        const sql = `SELECT sum(sipHash64(number, '${id}')) FROM numbers(1e12) SETTINGS max_execution_time = 99`;
        const running = async (): Promise<boolean> => {
          const found = `SELECT query FROM system.processes WHERE position(query, concat('${id}', '')) > 0`;
          const rows = await analytics.query<{ query: string }>(found);
          return rows.some(({ query }) => query.includes('sipHash64'));
        };
        const leaving = new AbortController();
        const left = new Error('the client has left');
        const result =
          kind === 'query'
            ? analytics.query(sql, {}, leaving.signal)
            : analytics.file(sql, 'CSVWithNames', {}, leaving.signal);
        const outcome = expect(result).rejects.toBe(left);
        await until(running);
        leaving.abort(left);
        await outcome;
        await until(async () => !(await running()));
        expect(await analytics.query('SELECT 1 AS one', {}, new AbortController().signal)).toEqual([{ one: 1 }]);
        await expect(analytics.query(sql, {}, leaving.signal)).rejects.toBe(left);
      })();
    });

    // Regression: the first rows of a statement that timed out were returned to the next query.
    test(
      'a statement that fails midway leaves nothing in later results',
      onAnalytics(async (analytics) => {
        const failing = 'SELECT throwIf(number = 900000) AS secret FROM numbers(1000000)';
        for (let round = 0; round < 3; round++) {
          const failed = await Promise.allSettled([
            analytics.query(failing),
            analytics.file(failing, 'CSVWithNames'),
            analytics.file(failing, 'Parquet'),
          ]);
          expect(failed).toMatchObject(Array(3).fill({ status: 'rejected', reason: { code: '395' } }));
          await expect(analytics.command(failing)).rejects.toThrow();
          await analytics.insert('locations', namedRows(locationRow(`${round}`)));
          expect(await analytics.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
          expect(text(await analytics.file('SELECT 1 AS one', 'CSVWithNames'))).toBe('"one"\n1\n');
        }
        expect(await analytics.query('SELECT count() AS n FROM locations')).toEqual([{ n: 3 }]);
      }),
    );

    test(
      'a CSV result starts with the names; parameters of any content are bound',
      onAnalytics(async (analytics) => {
        const nasty = `it's "a" FORMAT Null\n, {b:String}`;
        const csv = await analytics.file('SELECT {nasty:String} AS name, {n:UInt8} AS n', 'CSVWithNames', {
          nasty,
          n: 3,
        });
        expect(text(csv)).toBe(`"name","n"\n"${nasty.replaceAll('"', '""')}",3\n`);
        expect(text(await analytics.file('SELECT 1 AS n WHERE 0', 'CSVWithNames'))).toBe('"n"\n');
        await expect(analytics.file('SELECT {n:UInt8} AS n', 'CSVWithNames', { n: 'x' })).rejects.toThrow();
      }),
    );

    test(
      'a Parquet result is a complete file, also without rows',
      onAnalytics(async (analytics) => {
        for (const rows of [0, 3]) {
          const parquet = await analytics.file('SELECT number FROM numbers({rows:UInt32})', 'Parquet', { rows });
          expect([text(parquet.subarray(0, 4)), text(parquet.subarray(-4))]).toEqual(['PAR1', 'PAR1']);
        }
      }),
    );

    test(
      'a large result is complete, and does not block other queries',
      onAnalytics(async (analytics) => {
        const lines = "SELECT number, repeat('x', 50) AS filling FROM numbers(1000000)";
        const [large, ...small] = await Promise.all([
          analytics.file(lines, 'CSVWithNames'),
          ...[1, 2, 3].map((n) => analytics.query('SELECT {n:UInt8} AS n', { n })),
        ]);
        expect(large.length).toBe('"number","filling"\n'.length + 5_888_890 + 1_000_000 * (',""\n'.length + 50));
        expect(text(large.subarray(-60))).toBe(`999999,"${'x'.repeat(50)}"\n`);
        expect(small).toEqual([[{ n: 1 }], [{ n: 2 }], [{ n: 3 }]]);
      }),
    );

    test('rows are stored after a reopen; close waits for running statements', async () => {
      const place = await site();
      let analytics = await place.open();
      await analytics.command(ddlOf('001-locations'));
      const insert = analytics.insert('locations', namedRows(locationRow('a')));
      await analytics.close();
      await insert;
      analytics = await place.open();
      expect(await analytics.query('SELECT id FROM locations')).toEqual([{ id: 'a' }]);
      await analytics.close();
      await place.remove();
    });
  });
}
