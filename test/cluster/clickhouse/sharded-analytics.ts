/** Used instead of the embedded engine: each suite has its own database on a server that simulates two shards. */
import { type ClickHouseServer, startClickHouse } from '../../../testing/services/clickhouse/clickhouse.js';
import { freshSite } from './sites.js';

const cluster = { name: 'two_shards', shards: 2 };

let server: Promise<ClickHouseServer> | undefined;

/** Starts the server at the first call. Closing the store drops its database. */
export async function openShardedAnalytics() {
  server ??= startClickHouse({ cluster });
  const site = freshSite(await server, cluster.name);
  const analytics = await site.open();
  return {
    ...analytics,
    async close() {
      await analytics.close();
      await site.remove();
    },
  };
}

/** Stops the servers, if a test has started them. */
export async function stopShardedAnalytics(): Promise<void> {
  await (await server)?.stop();
}
