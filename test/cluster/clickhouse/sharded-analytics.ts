/** In place of the engine in the process: a server that plays two shards. */
import { startClickHouse } from '../../../testing/services/clickhouse/clickhouse.js';
import { freshSite } from './sites.js';

const cluster = { name: 'two_shards', shards: 2 };

/** Closing it ends the server. */
export async function openTestAnalytics() {
  const server = await startClickHouse({ cluster });
  const analytics = await freshSite(server, cluster.name).open();
  return {
    ...analytics,
    async close() {
      await analytics.close();
      await server.stop();
    },
  };
}
