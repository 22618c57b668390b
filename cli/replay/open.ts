/** Opens the log with the recorded locations: a data folder, which a server may have open, or the cluster's Kafka. */
import { hasLog, openLogReader, type ReadableLog } from '../../backends/embedded/reader.js';
import { clusterOptionsOrRefuse } from '../../server/cluster-options.js';
import type { Configuration } from '../../server/config/schema.js';
import { CommandFailure } from '../command.js';

export interface OpenRecord {
  readonly log: ReadableLog;
  close(): Promise<void>;
}

export async function openRecord(configuration: Configuration): Promise<OpenRecord> {
  if (configuration.backend === 'cluster') {
    // Loaded here, because a data folder needs none of its clients.
    const { openCluster } = await import('../../backends/cluster/cluster.js');
    return openCluster({ ...clusterOptionsOrRefuse(configuration), onProblem: (problem) => console.error(problem) });
  }
  const folder = configuration.data;
  if (!hasLog(folder))
    throw new CommandFailure(`${folder} is not a data folder of Fenceline; choose another with --data`);
  const log = openLogReader(folder);
  return { log, close: () => log.close() };
}
