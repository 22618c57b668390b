/** Where a run's record is kept: a data folder that no server has open, or a cluster's services. */
import { openChdbAnalytics } from '../../backends/embedded/analytics.js';
import { openEmbedded } from '../../backends/embedded/embedded.js';
import type { Analytics, Log, StateStore } from '../../pipeline/ports.js';

export interface Sources {
  readonly log: Pick<Log, 'partitions' | 'partitionOf' | 'read' | 'bounds'>;
  readonly states: Pick<StateStore, 'load'>;
  readonly analytics: Pick<Analytics, 'query'>;
  close(): Promise<void>;
}

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
