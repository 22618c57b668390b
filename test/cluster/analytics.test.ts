/** The analytics port on a ClickHouse server, and on one that plays two shards. */
import { afterAll, beforeAll } from 'vitest';
import { describeAnalyticsContract } from '../contract/analytics.contract.js';
import { type ClickHouseServer, startClickHouse } from '../services/clickhouse/clickhouse.js';
import { freshSite } from './clickhouse-sites.js';

const cluster = { name: 'two_shards', shards: 2 };

let server: ClickHouseServer;
let sharded: ClickHouseServer;
beforeAll(async () => {
  [server, sharded] = await Promise.all([startClickHouse(), startClickHouse({ cluster })]);
});
afterAll(() => Promise.all([server, sharded].map((each) => each.stop())));

describeAnalyticsContract('cluster', async () => freshSite(server));
describeAnalyticsContract('cluster, two shards', async () => freshSite(sharded, cluster.name));
