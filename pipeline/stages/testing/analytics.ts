/** The real analytics engine, in a temporary folder. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ChdbAnalytics, openChdbAnalytics } from '../../../backends/embedded/analytics.js';
import { migrate } from '../analytics/migrate.js';

const sqlFolder = fileURLToPath(new URL('../../../schemas/clickhouse', import.meta.url));

/** Opens the engine; closing it removes the folder. */
export async function openTestAnalytics(): Promise<ChdbAnalytics> {
  const path = mkdtempSync(join(tmpdir(), 'fenceline-chdb-'));
  const analytics = await openChdbAnalytics({ path });
  return {
    ...analytics,
    async close() {
      await analytics.close();
      rmSync(path, { recursive: true, force: true });
    },
  };
}

/** Opens the engine with all tables. They keep rows of any age, because tests use fixed dates. */
export async function openTestTables(): Promise<ChdbAnalytics> {
  const analytics = await openTestAnalytics();
  await migrate(analytics, sqlFolder);
  await analytics.command('SYSTEM STOP TTL MERGES');
  return analytics;
}
