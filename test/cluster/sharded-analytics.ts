/** In place of the engine in the process: one server that plays two shards, for all files of one test process. */
import { startClickHouse } from '../services/clickhouse/clickhouse.js';
import { freshSite } from './clickhouse-sites.js';

const cluster = { name: 'two_shards', shards: 2 };

/** Closing it removes the database, and the server after the last. */
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
