/**
 * The delivery queue on LMDB: the deliveries of each source in the order of their places, beside the source's position
 * and owner token.
 *
 * The queue and topic `events` are in separate environments, both synced in the background. The source's environment is
 * therefore synced before a position moves, so that after a power cut no position is beyond the end of its topic
 * (docs/decisions/009).
 */
import type { DeliveryQueue } from '../../pipeline/ports.js';
import { createDeliveryQueueChanges } from './delivery-queue-changes.js';
import { createDeliveryQueueReads } from './delivery-queue-reads.js';
import { createReplacements } from './replacements.js';
import type { Storage } from './storage.js';
import { createWebhookHealths } from './webhook-healths.js';

/** Creates the queue in a storage that the caller opens and closes. The queue itself needs no closing. */
export const createDeliveryQueue = (storage: Storage): DeliveryQueue => ({
  ...createDeliveryQueueChanges(storage),
  ...createDeliveryQueueReads(storage.deliveryEnvironment),
  ...createReplacements(storage.deliveryEnvironment),
  ...createWebhookHealths(storage.deliveryEnvironment),
  // The queue is in this process and never out of reach.
  onReturn: () => () => {},
});
