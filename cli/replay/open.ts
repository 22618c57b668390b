/** Where recorded locations are: in a data folder, which no server need have open, or in the cluster's Kafka. */
import { openCluster } from '../../backends/cluster/cluster.js';
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
    return openCluster({ ...clusterOptionsOrRefuse(configuration), onProblem: (problem) => console.error(problem) });
  }
  const folder = configuration.data;
  if (!hasLog(folder))
    throw new CommandFailure(`${folder} is not the data folder of a Fenceline; --data names another`);
  const log = openLogReader(folder);
  return { log, close: () => log.close() };
}
