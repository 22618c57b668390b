/** What the threads of an embedded node are told at their start, and what they answer to the main thread. */
import type { SpatialQueries } from '../../pipeline/catalog/types.js';
import type { Analytics } from '../../pipeline/ports.js';
import type { Configuration } from '../config/schema.js';

export interface WorkerStart {
  readonly configuration: Configuration;
}

/** Part of what every worker answers. */
export interface Worker {
  /** Its registry as JSON, to be put together with the main thread's. */
  metrics(): Promise<object[]>;
  /** Finishes what is in flight and closes what it opened; the thread may be ended then. */
  stop(): Promise<void>;
}

export type StageWorker = Worker & SpatialQueries;

export type AnalyticsWorker = Worker & Pick<Analytics, 'query'>;
