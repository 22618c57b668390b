/** In place of the engine in the process: a database of its own on a server that plays two shards, for each suite. */
import { type ClickHouseServer, startClickHouse } from '../../../testing/services/clickhouse/clickhouse.js';
import { freshSite } from './sites.js';

const cluster = { name: 'two_shards', shards: 2 };

let server: Promise<ClickHouseServer> | undefined;

/** Starts the server at the first call. Closing the store drops its database. */
export async function openTestAnalytics() {
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

export async function stopTestAnalytics(): Promise<void> {
  await (await server)?.stop();
}
