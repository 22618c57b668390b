/** The tables of the analytics store, for tests. */
import { fileURLToPath } from 'node:url';
import type { Analytics } from '../../ports.js';
import { migrate } from '../analytics/migrate.js';

const sqlFolder = fileURLToPath(new URL('../../../schemas/clickhouse', import.meta.url));

/** Creates all tables. They keep rows of any age, because tests use fixed dates. */
export async function createTestTables(analytics: Analytics): Promise<void> {
  await migrate(analytics, sqlFolder);
  await analytics.command('SYSTEM STOP TTL MERGES');
}
