/** Separate databases for tests on a ClickHouse server. */
import { randomBytes } from 'node:crypto';
import type { ClickHouseOptions } from '../../../backends/cluster/options.js';
import type { Analytics } from '../../../pipeline/ports.js';
import { onCluster } from '../../../pipeline/stages/analytics/on-cluster.js';
import type { ClickHouseAddress } from '../../../testing/services/clickhouse/clickhouse.js';
import type { AnalyticsSite } from '../../contract/analytics.contract.js';
import { openClickHouse } from '../../support/clickhouse.js';

/** Returns options for a new database of the server. `cluster` names the cluster whose shards it is made on. */
export const freshOptions = ({ url, username, password }: ClickHouseAddress, cluster?: string): ClickHouseOptions => ({
  url,
  username,
  password,
  database: `test_${randomBytes(6).toString('hex')}`,
  requestTimeoutMs: 30_000,
  ...(cluster !== undefined && { cluster }),
});

/** Returns a site with a new database. On a cluster, it creates tables as `migrate` does. */
export function freshSite(address: ClickHouseAddress, cluster?: string): AnalyticsSite {
  const options = freshOptions(address, cluster);
  return {
    async open() {
      const analytics = await openClickHouse(options);
      return cluster === undefined
        ? analytics
        : { ...analytics, command: onAllShards(analytics, cluster, options.database) };
    },
    remove: () => dropDatabase(options),
  };
}

/** Returns `command` for all shards. Tests also truncate tables, which Fenceline never does. */
function onAllShards(analytics: Analytics, name: string, database: string): Analytics['command'] {
  const translated = (sql: string): readonly string[] => {
    if (sql.startsWith('TRUNCATE TABLE')) return [`${sql}_local`];
    return /^(--.*\n)*CREATE /.test(sql) ? onCluster(sql, { name, database }) : [sql];
  };
  return async (sql) => {
    for (const each of translated(sql)) await analytics.command(each);
  };
}

async function dropDatabase(options: ClickHouseOptions): Promise<void> {
  const analytics = await openClickHouse(options);
  await analytics.command(`DROP DATABASE ${options.database}`);
  await analytics.close();
}
