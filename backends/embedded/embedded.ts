/**
 * Opens the ports on embedded engines: LMDB for logs, states, positions and delivery queues. chDB, for analytics, is
 * opened separately (`analytics.ts`). Each thread that needs the ports opens the same folder.
 */
import type { DeliveryQueue, Positions, StateStore } from '../../pipeline/ports.js';
import { createDeliveryQueue } from './delivery-queue.js';
import { createExpiringValues, type EmbeddedExpiringValues } from './expiring-values.js';
import { createLog, type EmbeddedLog, type LogOptions } from './log.js';
import { createPositions } from './positions.js';
import { createStateStore } from './state-store.js';
import { openStorage, type StorageOptions } from './storage.js';

export interface EmbeddedOptions extends StorageOptions, LogOptions {}

export interface Embedded {
  readonly log: EmbeddedLog;
  readonly stateStore: StateStore;
  readonly positions: Positions;
  readonly deliveryQueue: DeliveryQueue;
  readonly values: EmbeddedExpiringValues;
  /** Like the method of each environment. */
  clearDeadReaders(): number;
  /** Closes subscriptions, and waits for appends in flight and for the disk. Commits must have settled before. */
  close(): Promise<void>;
}

/**
 * Opens log, states, positions and delivery queues in `path`. Throws when the folder can't be opened or has another
 * number of partitions.
 */
export function openEmbedded(options: EmbeddedOptions): Embedded {
  const storage = openStorage(options);
  const log = createLog(storage, options);
  return {
    log,
    stateStore: createStateStore(storage),
    positions: createPositions(storage),
    deliveryQueue: createDeliveryQueue(storage),
    values: createExpiringValues(storage),
    clearDeadReaders: () => storage.environments.reduce((sum, each) => sum + each.clearDeadReaders(), 0),
    async close() {
      await log.close();
      await storage.close();
    },
  };
}
