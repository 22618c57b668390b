/**
 * The delivery queue on LMDB: the deliveries of each source in the order of their places, beside the source's position
 * and owner token. A change is one transaction that checks the token, so that changes are atomic.
 *
 * The queue and topic `events` are in separate environments, both synced in the background. The source's environment is
 * therefore synced before a position moves, so that after a power cut no position is beyond the end of its topic
 * (docs/decisions/009).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type {
  ClaimState,
  CommitResult,
  DeliveryClaim,
  DeliveryPlace,
  DeliveryQueue,
  DeliverySource,
  Settlement,
  WaitingDelivery,
} from '../../pipeline/ports.js';
import {
  decodeQueueState,
  decodeWaiting,
  encodeAttempts,
  encodeQueueState,
  encodeWaiting,
  keyBeyondSource,
  keyBeyondWebhook,
  placeKey,
  placeOfKey,
  type QueueState,
  setSequence,
  sourceKey,
} from './delivery-queue-layout.js';
import { createReplacements } from './replacements.js';
import type { Storage } from './storage.js';
import { createWebhookHealths } from './webhook-healths.js';

/** Limits of one transaction of a drop, and of one turn of the event loop: some milliseconds each. */
const maxDropsPerTransaction = 500;
const maxSeeksPerTurn = 1_000;

type NextDue = Awaited<ReturnType<DeliveryQueue['webhooks']>>[number];

/** Creates the queue in a storage that the caller opens and closes. The queue itself needs no closing. */
export function createDeliveryQueue({ deliveryEnvironment, topics }: Storage): DeliveryQueue {
  const queues = deliveryEnvironment.table('queues');
  const deliveries = deliveryEnvironment.table('waiting');

  async function claim(source: DeliverySource): Promise<DeliveryClaim> {
    const key = sourceKey(source);
    return deliveryEnvironment.transaction(() => {
      const state = decodeQueueState(queues.getBinary(key));
      const token = state.token + 1;
      queues.putSync(key, encodeQueueState({ ...state, token }));
      return { source, token, nextOffset: state.nextOffset, nextSequence: state.nextSequence, mark: state.mark };
    });
  }

  /**
   * Runs `change` in a transaction unless another owner has claimed the source. `change` returns the queue's new state,
   * or undefined to refuse.
   */
  async function changeAs(
    { source, token }: DeliveryClaim,
    change: (state: QueueState) => QueueState | undefined,
  ): Promise<CommitResult> {
    const key = sourceKey(source);
    return deliveryEnvironment.transaction((): CommitResult => {
      const state = decodeQueueState(queues.getBinary(key));
      const changed = state.token === token ? change(state) : undefined;
      if (changed === undefined) return 'fenced';
      queues.putSync(key, encodeQueueState(changed));
      return 'committed';
    });
  }

  const add: DeliveryQueue['add'] = async (claim, { expectedOffset, nextOffset, mark = null, deliveries: added }) => {
    // Encoded before the transaction, in which nothing may fail.
    const entries = added.map((each) => ({
      key: placeKey(claim.source, { ...each, sequence: 0 }),
      value: encodeWaiting(0, each.value),
    }));
    await topics[claim.source.topic].environment.synced();
    return changeAs(claim, (state) => {
      if (state.nextOffset !== expectedOffset) return undefined;
      let { nextSequence } = state;
      for (const { key, value } of entries) {
        setSequence(key, nextSequence++);
        deliveries.putSync(key, value);
      }
      return { ...state, nextOffset, mark, nextSequence, size: state.size + entries.length };
    });
  };

  async function waiting(
    source: DeliverySource,
    webhook: string,
    limit: number,
    after?: DeliveryPlace,
  ): Promise<WaitingDelivery[]> {
    deliveryEnvironment.refresh();
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
    deliveryEnvironment.refresh();
    const found: NextDue[] = [];
    const end = keyBeyondSource(source);
    for (let due = firstDue(sourceKey(source), end); due; due = firstDue(keyBeyondWebhook(source, due.webhook), end)) {
      found.push(due);
      if (found.length % maxSeeksPerTurn === 0) await nextTurn();
    }
    return found;
  }

  /** Removes or moves a delivery, in a transaction. Returns whether it was removed. */
  function remove(key: Buffer, moved: { readonly key: Buffer; readonly attempts: Buffer } | null): boolean {
    if (moved === null) return deliveries.removeSync(key);
    const value = deliveries.getBinary(key);
    if (value === undefined) return false;
    moved.attempts.copy(value);
    deliveries.removeSync(key);
    deliveries.putSync(moved.key, value);
    return false;
  }

  async function settle(claim: DeliveryClaim, settlements: readonly Settlement[]): Promise<CommitResult> {
    const changes = settlements.map(({ place, next }) => ({
      key: placeKey(claim.source, place),
      moved: next && {
        key: placeKey(claim.source, { ...place, dueAtMs: next.dueAtMs }),
        attempts: encodeAttempts(next.attempts),
      },
    }));
    return changeAs(claim, (state) => {
      const gone = changes.filter(({ key, moved }) => remove(key, moved)).length;
      return { ...state, size: state.size - gone };
    });
  }

  async function erase(source: DeliverySource, _webhook: string, places: readonly DeliveryPlace[]): Promise<void> {
    const keys = places.map((place) => placeKey(source, place));
    const queue = sourceKey(source);
    await deliveryEnvironment.transaction(() => {
      const state = decodeQueueState(queues.getBinary(queue));
      const gone = keys.filter((key) => deliveries.removeSync(key)).length;
      queues.putSync(queue, encodeQueueState({ ...state, size: state.size - gone }));
    });
  }

  /** Returns keys of the webhook's first deliveries with a sequence below `end`. */
  function keysBelow(end: number, source: DeliverySource, webhook: string): Buffer[] {
    const start = placeKey(source, { webhook, dueAtMs: 0, sequence: 0 });
    const keys: Buffer[] = [];
    for (const key of deliveries.getKeys({ start, end: keyBeyondWebhook(source, webhook) })) {
      if (keys.length === maxDropsPerTransaction) break;
      if (placeOfKey(key).sequence < end) keys.push(key);
    }
    return keys;
  }

  /**
   * Drops the deliveries in several transactions. Deliveries that are added after the first one stay. `fenced` leaves
   * the rest in the queue.
   */
  async function drop(claim: DeliveryClaim, webhook: string): Promise<CommitResult> {
    let end: number | undefined;
    for (;;) {
      let dropped = 0;
      const result = await changeAs(claim, (state) => {
        end ??= state.nextSequence;
        const keys = keysBelow(end, claim.source, webhook);
        for (const key of keys) deliveries.removeSync(key);
        dropped = keys.length;
        return { ...state, size: state.size - dropped };
      });
      if (result === 'fenced' || dropped < maxDropsPerTransaction) return result;
    }
  }

  async function size(): Promise<number> {
    deliveryEnvironment.refresh();
    let sum = 0;
    for (const { value } of queues.getRange()) sum += decodeQueueState(value).size;
    return sum;
  }

  function stateOf(source: DeliverySource): QueueState {
    deliveryEnvironment.refresh();
    return decodeQueueState(queues.getBinary(sourceKey(source)));
  }

  return {
    claim,
    add,
    verify: async (claims) =>
      claims.map(({ source, token }): ClaimState => (stateOf(source).token === token ? 'held' : 'claimed')),
    async position(source) {
      const { nextOffset, mark } = stateOf(source);
      return { offset: nextOffset, mark };
    },
    // The queue is in this process and never out of reach.
    onReturn: () => () => {},
    waiting,
    webhooks,
    settle,
    drop,
    erase,
    size,
    ...createReplacements(deliveryEnvironment),
    ...createWebhookHealths(deliveryEnvironment),
  };
}
