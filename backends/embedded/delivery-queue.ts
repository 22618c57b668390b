/**
 * Waiting deliveries of each source in LMDB, in the order of their places, with the source's position and owner token
 * beside them. A change is one transaction in which the token is checked, so that nothing is ever half done.
 *
 * The queue has an environment of its own, synced behind, and `events` is in another that is synced behind as well. So
 * that no power cut can leave a position beyond the end of its topic, the source's environment is synced before a
 * position moves (docs/decisions/009).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type {
  ClaimState,
  CommitResult,
  DeliveryClaim,
  DeliveryPlace,
  DeliveryQueue,
  DeliverySource,
  Replacement,
  Settlement,
  WaitingDelivery,
} from '../../pipeline/ports.js';
import {
  decodeHealth,
  decodeQueueState,
  decodeWaiting,
  encodeAttempts,
  encodeHealth,
  encodeQueueState,
  encodeWaiting,
  keyBeyondSource,
  keyBeyondWebhook,
  placeKey,
  placeOfKey,
  type QueueState,
  replacementKey,
  replacementOfTimeKey,
  replacementTimeKey,
  setSequence,
  sourceKey,
  webhookKey,
} from './delivery-queue-layout.js';
import { numberOf, numberValue } from './keys.js';
import type { Storage } from './storage.js';

/** What one transaction of a drop removes, and what one turn of the event loop seeks: some milliseconds of either. */
const maxDroppedAtOnce = 500;
const maxSoughtAtOnce = 1_000;
/** Old replacements that one call removes; one call adds no more than that. */
const maxForgottenAtOnce = 2_000;
const noValue = Buffer.alloc(0);

type NextDue = Awaited<ReturnType<DeliveryQueue['webhooks']>>[number];

export function createDeliveryQueue({ deliveryEnvironment, topics }: Storage): DeliveryQueue {
  const queues = deliveryEnvironment.table('queues');
  const deliveries = deliveryEnvironment.table('waiting');
  const healths = deliveryEnvironment.table('health');
  const replacements = deliveryEnvironment.table('replacements');
  /** The same by time, so that the oldest are found. */
  const replacementTimes = deliveryEnvironment.table('replacement-times');

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
   * Runs `change` in a transaction unless the source was claimed by another; it answers the queue's state afterwards,
   * undefined to refuse.
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
    // Encoded first, so that nothing can fail once the transaction has begun.
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

  /** The first place in the range, as the webhook that has it and when it is due. */
  function firstDue(start: Buffer, end: Buffer): NextDue | undefined {
    for (const key of deliveries.getKeys({ start, end, limit: 1 })) {
      const { webhook, dueAtMs } = placeOfKey(key);
      return { webhook, nextDueAtMs: dueAtMs };
    }
    return undefined;
  }

  /** Goes from each webhook's first place straight to the next webhook's. */
  async function webhooks(source: DeliverySource): Promise<NextDue[]> {
    deliveryEnvironment.refresh();
    const found: NextDue[] = [];
    const end = keyBeyondSource(source);
    for (let due = firstDue(sourceKey(source), end); due; due = firstDue(keyBeyondWebhook(source, due.webhook), end)) {
      found.push(due);
      if (found.length % maxSoughtAtOnce === 0) await nextTurn();
    }
    return found;
  }

  /** Only inside a transaction. Answers whether the delivery is gone from the queue now and was there before. */
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

  /** Keys of the webhook's first deliveries with a sequence below `end`. */
  function keysBelow(end: number, source: DeliverySource, webhook: string): Buffer[] {
    const start = placeKey(source, { webhook, dueAtMs: 0, sequence: 0 });
    const keys: Buffer[] = [];
    for (const key of deliveries.getKeys({ start, end: keyBeyondWebhook(source, webhook) })) {
      if (keys.length === maxDroppedAtOnce) break;
      if (placeOfKey(key).sequence < end) keys.push(key);
    }
    return keys;
  }

  /**
   * In as many transactions as it takes. What is added after the first of them stays; `fenced` leaves what was not
   * reached yet.
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
      if (result === 'fenced' || dropped < maxDroppedAtOnce) return result;
    }
  }

  async function size(): Promise<number> {
    deliveryEnvironment.refresh();
    let sum = 0;
    for (const { value } of queues.getRange()) sum += decodeQueueState(value).size;
    return sum;
  }

  async function replace(webhook: string, added: readonly Replacement[], keepMs: number): Promise<void> {
    const entries = added.map(({ delivery, createdAtMs }) => ({ key: replacementKey(webhook, delivery), createdAtMs }));
    const newestMs = added.reduce((newest, { createdAtMs }) => Math.max(newest, createdAtMs), 0);
    await deliveryEnvironment.transaction(() => {
      for (const { key, createdAtMs } of entries) {
        const knownMs = numberOf(replacements.getBinary(key));
        if (knownMs !== undefined) replacementTimes.removeSync(replacementTimeKey(knownMs, key));
        replacements.putSync(key, numberValue(createdAtMs));
        replacementTimes.putSync(replacementTimeKey(createdAtMs, key), noValue);
      }
      forgetReplacementsBefore(newestMs - keepMs);
    });
  }

  /** Only inside a transaction. Forgets more than one replacement adds, so that their number stays bounded. */
  function forgetReplacementsBefore(epochMs: number): void {
    const end = numberValue(Math.max(0, epochMs));
    const old = Array.from(replacementTimes.getKeys({ end, limit: maxForgottenAtOnce }), (key) => Buffer.from(key));
    for (const timeKey of old) {
      replacementTimes.removeSync(timeKey);
      replacements.removeSync(replacementOfTimeKey(timeKey));
    }
  }

  async function replacedAt(webhook: string, ids: readonly string[]): Promise<(number | undefined)[]> {
    deliveryEnvironment.refresh();
    return ids.map((delivery) => numberOf(replacements.getBinary(replacementKey(webhook, delivery))));
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
    // The queue is in this process: it never was away.
    onReturn: () => () => {},
    waiting,
    webhooks,
    settle,
    drop,
    size,
    replace,
    replacedAt,
    async health(webhook) {
      deliveryEnvironment.refresh();
      return decodeHealth(healths.getBinary(webhookKey(webhook)));
    },
    async setHealth(webhook, health) {
      await deliveryEnvironment.transaction(() => healths.putSync(webhookKey(webhook), encodeHealth(health)));
    },
  };
}
