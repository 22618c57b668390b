/** The stores that hold a run's record: a data folder that no server has open, or a cluster's services. */
import { openCluster } from '../../backends/cluster/cluster.js';
import { openChdbAnalytics } from '../../backends/embedded/analytics.js';
import { openEmbedded } from '../../backends/embedded/embedded.js';
import type { Analytics, Log, StateStore } from '../../pipeline/ports.js';
import { clusterOptionsOrRefuse } from '../../server/cluster-options.js';
import { loadConfiguration } from '../../server/config/load.js';
import { openClickHouse } from '../support/clickhouse.js';

export interface Sources {
  readonly log: Pick<Log, 'partitions' | 'partitionOf' | 'read' | 'bounds'>;
  readonly states: Pick<StateStore, 'load'>;
  readonly analytics: Pick<Analytics, 'query'>;
  close(): Promise<void>;
}

/** Opens the data folder of a node that has stopped. */
export async function embeddedSources(dataFolder: string, partitions: number): Promise<Sources> {
  const { log, stateStore, close } = openEmbedded({ path: dataFolder, partitions });
  const analytics = await openChdbAnalytics({ path: `${dataFolder}/analytics` });
  return {
    log,
    states: stateStore,
    analytics,
    async close() {
      await analytics.close();
      await close();
    },
  };
}

/** Opens the services of a cluster. `environment` is that of its nodes. */
export async function clusterSources(environment: Readonly<Record<string, string>>): Promise<Sources> {
  const loaded = loadConfiguration({ environment, flags: {} });
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'));
  const options = clusterOptionsOrRefuse(loaded.configuration);
  const { log, stateStore, close } = await openCluster({ ...options, onProblem: () => {} });
  const analytics = await openClickHouse(options.clickHouse);
  return {
    log,
    states: stateStore,
    analytics,
    async close() {
      await analytics.close();
      await close();
    },
  };
}
