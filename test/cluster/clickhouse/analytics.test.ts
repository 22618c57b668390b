/** The analytics port on a ClickHouse server, and on one that simulates two shards. */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../../../pipeline/stages/analytics/migrate.js';
import { type ClickHouseServer, startClickHouse } from '../../../testing/services/clickhouse/clickhouse.js';
import { describeAnalyticsContract } from '../../contract/analytics.contract.js';
import { openClickHouse } from '../../support/clickhouse.js';
import { freshOptions, freshSite } from './sites.js';

const cluster = { name: 'two_shards', shards: 2 };

let server: ClickHouseServer;
let sharded: ClickHouseServer;
beforeAll(async () => {
  [server, sharded] = await Promise.all([startClickHouse(), startClickHouse({ cluster })]);
});
afterAll(() => Promise.all([server, sharded].map((each) => each.stop())));

describeAnalyticsContract('cluster', async () => freshSite(server));
describeAnalyticsContract('cluster, two shards', async () => freshSite(sharded, cluster.name));

test("queries can't change data", async () => {
  const analytics = await openClickHouse(freshOptions(server));
  await analytics.command('CREATE TABLE IF NOT EXISTS kept (n UInt8) ENGINE = MergeTree ORDER BY n');
  await expect(analytics.query('DROP TABLE kept')).rejects.toMatchObject({ type: 'READONLY' });
  await expect(analytics.query('SELECT 1 SETTINGS readonly = 0')).rejects.toMatchObject({ type: 'READONLY' });
  expect(await analytics.query('SELECT count() AS n FROM kept')).toEqual([{ n: 0 }]);
  await analytics.close();
});

const tables = fileURLToPath(new URL('../../../schemas/clickhouse', import.meta.url));

test.each(['one server', 'two shards'])('%s: many processes can start at once', async (where) => {
  const options = where === 'one server' ? freshOptions(server) : freshOptions(sharded, cluster.name);
  const processes = await Promise.all(Array.from({ length: 8 }, () => openClickHouse(options)));
  await Promise.all(processes.map((analytics) => migrate(analytics, tables, options)));
  const [analytics] = processes as [(typeof processes)[0]];
  expect(await migrate(analytics, tables, options)).toEqual([]);
  const engines = `SELECT engine, count() AS tables FROM system.tables WHERE database = {database:String}
    GROUP BY engine ORDER BY engine`;
  expect(await analytics.query(engines, { database: options.database })).toEqual([
    ...(where === 'one server' ? [] : [{ engine: 'Distributed', tables: 6 }]),
    { engine: 'ReplacingMergeTree', tables: 6 },
    { engine: 'View', tables: 5 },
  ]);
  await Promise.all(processes.map((each) => each.close()));
});
