import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Analytics } from '../../ports.js';
import { openTestAnalytics } from '../testing/analytics.js';
import { migrate } from './migrate.js';

const ours = fileURLToPath(new URL('../../../schemas/clickhouse', import.meta.url));
let folder: string;
let analytics: Awaited<ReturnType<typeof openTestAnalytics>>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fenceline-migrate-'));
  analytics = await openTestAnalytics();
});
afterAll(async () => {
  await analytics.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => analytics.command('DROP TABLE IF EXISTS schema_migrations'));

const file = (name: string, sql: string): void => writeFileSync(join(folder, name), sql);
const answer = async (): Promise<unknown> => analytics.query('SELECT * FROM answer');

test('concurrent migrations have the result of one', async () => {
  const applied = await Promise.all(Array.from({ length: 4 }, () => migrate(analytics, ours)));
  expect(applied.flat().length).toBeGreaterThanOrEqual(10);
  expect(await migrate(analytics, ours)).toEqual([]);
  const views = "SELECT count() AS views FROM system.tables WHERE database = currentDatabase() AND engine = 'View'";
  expect(await analytics.query(views)).toEqual([{ views: 5 }]);
});

test('a view in two files ends as the later defines it, even if another process recorded that file', async () => {
  file('1.sql', 'CREATE OR REPLACE VIEW answer AS SELECT 1 AS is');
  file('2.sql', 'CREATE OR REPLACE VIEW answer AS SELECT 2 AS is');
  let isOvertaken = false;
  const slow: Analytics = {
    ...analytics,
    async command(sql) {
      if (!isOvertaken && sql.includes('VIEW')) {
        isOvertaken = true;
        await migrate(analytics, folder);
      }
      await analytics.command(sql);
    },
  };
  expect(await migrate(slow, folder)).toEqual(['1.sql', '2.sql']);
  expect(await answer()).toEqual([{ is: 2 }]);
});

test('a failing file is not recorded, and later files do not run', async () => {
  file('1.sql', 'CREATE OR REPLACE VIEW answer AS SELECT 3 AS is');
  file('2.sql', 'CREATE OR REPLACE VIEW answer AS SELECT nothing');
  file('3.sql', 'CREATE OR REPLACE VIEW answer AS SELECT 4 AS is');
  await expect(migrate(analytics, folder)).rejects.toThrow('nothing');
  expect(await answer()).toEqual([{ is: 3 }]);
  file('2.sql', 'CREATE OR REPLACE VIEW other AS SELECT 1');
  expect(await migrate(analytics, folder)).toEqual(['2.sql', '3.sql']);
  expect(await answer()).toEqual([{ is: 4 }]);
});

// On a cluster a statement waits for every server, and a node must be able to start while one is down.
test('no statement runs when everything is recorded', async () => {
  await migrate(analytics, ours);
  const statements: string[] = [];
  expect(await migrate({ ...analytics, command: async (sql) => void statements.push(sql) }, ours)).toEqual([]);
  expect(statements).toEqual([]);
});

test('on a cluster, runs the statements rewritten for it', async () => {
  const seen: string[] = [];
  const recording: Analytics = {
    ...analytics,
    command: async (sql) => void seen.push(sql),
    query: async () => [],
    insert: async () => {},
  };
  await migrate(recording, ours, { database: 'd', cluster: 'c' });
  expect(seen).toHaveLength(2 * 6 + 5);
  for (const sql of seen) expect(sql).toMatch(/ (VIEW|EXISTS) \w+ ON CLUSTER 'c'/);
});
