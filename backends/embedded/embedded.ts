/**
 * Opens the ports on embedded engines: LMDB for logs, states, positions and delivery queues. chDB, for analytics, is
 * opened separately (`analytics.ts`). Each thread that needs the ports opens the same folder.
 */
import type { DeliveryQueue, Positions, StateStore } from '../../pipeline/ports.js';
import { createDeliveryQueue } from './delivery-queue.js';
import type { Watched } from './environment.js';
import { createExpiringValues, type EmbeddedExpiringValues } from './expiring-values.js';
import { createLog, type EmbeddedLog, type LogOptions } from './log.js';
import { createPositions } from './positions.js';
import { createStateStore } from './state-store.js';
import { openStorage, type StorageOptions } from './storage.js';

/** The folder of a node, and bounds of its log. */
export interface EmbeddedOptions extends StorageOptions, LogOptions {}

/** The ports over one data folder, in one thread. Other threads open the same folder again. */
export interface Embedded {
  /** The open LMDB files, by the name of their folder. */
  readonly environments: Readonly<Record<string, Watched>>;
  readonly log: EmbeddedLog;
  readonly stateStore: StateStore;
  readonly positions: Positions;
  readonly deliveryQueue: DeliveryQueue;
  readonly values: EmbeddedExpiringValues;
  /** Answers under an Idempotency-Key: their space is not that of sessions, counters and leases. */
  readonly answers: EmbeddedExpiringValues;
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
    environments: storage.environments,
    log,
    stateStore: createStateStore(storage),
    positions: createPositions(storage),
    deliveryQueue: createDeliveryQueue(storage),
    values: createExpiringValues(storage),
    answers: createExpiringValues(storage, { space: 'answers' }),
    async close() {
      await log.close();
      await storage.close();
    },
  };
}
