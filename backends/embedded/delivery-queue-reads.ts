/** Reads the delivery queue on LMDB: what waits, and how far its sources are. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type {
  ClaimState,
  DeliveryPlace,
  DeliveryQueue,
  DeliverySource,
  WaitingDelivery,
} from '../../pipeline/ports.js';
import {
  decodeQueueState,
  decodeWaiting,
  keyBeyondSource,
  keyBeyondWebhook,
  placeKey,
  placeOfKey,
  type QueueState,
  sourceKey,
} from './delivery-queue-layout.js';
import type { Environment } from './environment.js';

/** Limit of one turn of the event loop: some milliseconds. */
const maxSeeksPerTurn = 1_000;

type Reads = Pick<DeliveryQueue, 'waiting' | 'webhooks' | 'verify' | 'position' | 'size'>;
type NextDue = Awaited<ReturnType<Reads['webhooks']>>[number];

/** Creates the reads of the delivery queue. */
export function createDeliveryQueueReads(environment: Environment): Reads {
  const queues = environment.table('queues');
  const deliveries = environment.table('waiting');

  async function waiting(
    source: DeliverySource,
    webhook: string,
    limit: number,
    after?: DeliveryPlace,
  ): Promise<WaitingDelivery[]> {
    environment.refresh();
    const first =
      after === undefined ? { dueAtMs: 0, sequence: 0 } : { dueAtMs: after.dueAtMs, sequence: after.sequence + 1 };
    const range = { start: placeKey(source, { webhook, ...first }), end: keyBeyondWebhook(source, webhook), limit };
    return Array.from(deliveries.getRange(range), ({ key, value }) => decodeWaiting(key, value));
  }

  /** Returns the webhook and the due time of the first place in the range. */
  function firstDue(start: Buffer, end: Buffer): NextDue | undefined {
    for (const key of deliveries.getKeys({ start, end, limit: 1 })) {
      const { webhook, dueAtMs } = placeOfKey(key);
      return { webhook, nextDueAtMs: dueAtMs };
    }
    return undefined;
  }

  /** Seeks from each webhook's first place to that of the next webhook. */
  async function webhooks(source: DeliverySource): Promise<NextDue[]> {
    environment.refresh();
    const found: NextDue[] = [];
    const end = keyBeyondSource(source);
    for (let due = firstDue(sourceKey(source), end); due; due = firstDue(keyBeyondWebhook(source, due.webhook), end)) {
      found.push(due);
      if (found.length % maxSeeksPerTurn === 0) await nextTurn();
    }
    return found;
  }

  async function size(): Promise<number> {
    environment.refresh();
    let sum = 0;
    for (const { value } of queues.getRange()) sum += decodeQueueState(value).size;
    return sum;
  }

  function stateOf(source: DeliverySource): QueueState {
    environment.refresh();
    return decodeQueueState(queues.getBinary(sourceKey(source)));
  }

  return {
    waiting,
    webhooks,
    verify: async (claims) =>
      claims.map(({ source, token }): ClaimState => (stateOf(source).token === token ? 'held' : 'claimed')),
    async position(source) {
      const { nextOffset, mark } = stateOf(source);
      return { offset: nextOffset, mark };
    },
    size,
  };
}
