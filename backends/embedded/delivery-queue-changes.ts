/**
 * Changes of the delivery queue on LMDB. Each is one transaction that checks the owner's token, so that it is atomic;
 * a drop is several.
 */
import type {
  CommitResult,
  DeliveryClaim,
  DeliveryPlace,
  DeliveryQueue,
  DeliverySource,
  Settlement,
} from '../../pipeline/ports.js';
import {
  decodeQueueState,
  encodeAttempts,
  encodeQueueState,
  encodeWaiting,
  keyBeyondWebhook,
  placeKey,
  placeOfKey,
  type QueueState,
  setSequence,
  sourceKey,
} from './delivery-queue-layout.js';
import type { Storage } from './storage.js';

/** Limit of one transaction of a drop: some milliseconds. */
const maxDropsPerTransaction = 500;

type Changes = Pick<DeliveryQueue, 'claim' | 'add' | 'settle' | 'drop' | 'erase'>;

/** Creates the changes of the delivery queue. */
export function createDeliveryQueueChanges({ deliveryEnvironment, topics }: Storage): Changes {
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

  const add: Changes['add'] = async (claim, { expectedOffset, nextOffset, mark = null, deliveries: added }) => {
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

  return { claim, add, settle, drop, erase };
}
