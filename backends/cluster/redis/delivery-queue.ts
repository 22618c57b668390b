/**
 * The delivery queue on Redis: deliveries in the order of their places, beside their source's position and owner token.
 * Each change is one script that checks the token, so that changes are atomic.
 *
 * A script is repeated when its reply was lost. That is safe: batches and drops have ids by which a repetition is
 * recognised, and settled places are skipped. When Redis loses its last second, it loses deliveries and position
 * together. An owner that knows a later position is then refused; it claims again, adds the lost deliveries again, and
 * repeats requests that had been settled. Health that a lost connection writes late is outdated for up to a minute.
 *
 * Redis keeps the queue in memory. 100,000 deliveries of 1,000 bytes took 1,211 bytes each for one webhook, and 1,161
 * bytes each for 10,000 webhooks (docs/decisions/015).
 */
import {
  type ClaimState,
  type CommitResult,
  type DeliveryClaim,
  type DeliveryPlace,
  type DeliveryQueue,
  type DeliverySource,
  deliverySources,
  type Position,
  type Settlement,
  type WaitingDelivery,
} from '../../../pipeline/ports.js';
import { freshId } from '../../../schemas/ids.js';
import type { RedisConnection } from './connection.js';
import {
  boundAfter,
  checkValue,
  decodeWaiting,
  dueAtMsOf,
  encodeDue,
  encodeMember,
  encodePlace,
  SourceKeys,
} from './delivery-queue-layout.js';
import {
  addScript,
  claimScript,
  dropScript,
  eraseScript,
  firstsScript,
  settleScript,
  waitingScript,
} from './delivery-queue-scripts.js';
import type { Argument } from './encoded-command.js';
import { unlessUnavailable } from './errors.js';
import { createReplacements } from './replacements.js';
import { runScript, type Script } from './scripts.js';
import { createWebhookHealths } from './webhook-healths.js';

/** Limits of one script, which then takes about ten milliseconds. */
const maxSettlementsPerScript = 1_000;
const maxReadsPerScript = 1_000;
const readTargetBytes = 2 ** 22;

type NextDue = Awaited<ReturnType<DeliveryQueue['webhooks']>>[number];

/** The latest state of a source that its owner knows of. Scripts refuse a source that is behind it. */
interface Progress {
  offset: number;
  changes: number;
}

export interface RedisDeliveryQueueParts {
  readonly redis: RedisConnection;
  /** Partitions of each topic. */
  readonly partitions: number;
}

/** Creates the queue on a connection that the caller opens and closes. The queue itself needs no closing. */
export function createRedisDeliveryQueue({ redis, partitions }: RedisDeliveryQueueParts): DeliveryQueue {
  const { client, options } = redis;
  const keysOf = (source: DeliverySource): SourceKeys => new SourceKeys(options.prefix, source);
  const known = new WeakMap<DeliveryClaim, Progress>();

  function progressOf(claim: DeliveryClaim): Progress {
    const progress = known.get(claim) ?? { offset: claim.nextOffset, changes: 0 };
    known.set(claim, progress);
    return progress;
  }

  /** Returns the arguments by which a script recognises the owner, and that Redis has lost nothing it has written. */
  function ownerArguments(claim: DeliveryClaim): Argument[] {
    const { offset, changes } = progressOf(claim);
    return [`${claim.token}`, `${offset}`, `${changes}`];
  }

  const run = (script: Script, keys: readonly string[], args: readonly Argument[]): Promise<unknown> =>
    redis.withRetries(() => runScript(redis, script, keys, args));

  async function change(
    claim: DeliveryClaim,
    script: Script,
    keys: readonly string[],
    args: readonly Argument[],
  ): Promise<CommitResult> {
    const changes = (await run(script, keys, args)) as number;
    const progress = progressOf(claim);
    progress.changes = Math.max(progress.changes, changes);
    return changes > 0 ? 'committed' : 'fenced';
  }

  async function claim(source: DeliverySource): Promise<DeliveryClaim> {
    const answer = (await run(claimScript, [keysOf(source).meta], [])) as Buffer[];
    const [token, nextOffset, nextSequence] = answer.map(Number) as [number, number, number];
    const [, , , mark, changes] = answer;
    const claimed: DeliveryClaim = {
      source,
      token,
      nextOffset,
      nextSequence,
      mark: mark?.length ? mark.toString() : null,
    };
    known.set(claimed, { offset: nextOffset, changes: Number(changes ?? 0) });
    return claimed;
  }

  const add: DeliveryQueue['add'] = async (claim, { expectedOffset, nextOffset, mark, deliveries }) => {
    const keys = new KeysOfChange(keysOf(claim.source));
    const progress = progressOf(claim);
    const args: Argument[] = [
      freshId(),
      `${claim.token}`,
      `${expectedOffset}`,
      `${nextOffset}`,
      mark ?? '',
      `${progress.changes}`,
    ];
    for (const { webhook, dueAtMs, value } of deliveries)
      args.push(keys.numberOf(webhook), encodeDue(dueAtMs), checkValue(value));
    const result = await change(claim, addScript, keys.names, args);
    if (result === 'committed') progress.offset = Math.max(nextOffset, progress.offset);
    return result;
  };

  async function settle(claim: DeliveryClaim, settlements: readonly Settlement[]): Promise<CommitResult> {
    // Without settlements the script still checks the token.
    let start = 0;
    do {
      const end = start + maxSettlementsPerScript;
      if ((await settleBatch(claim, settlements.slice(start, end))) === 'fenced') return 'fenced';
      start = end;
    } while (start < settlements.length);
    return 'committed';
  }

  function settleBatch(claim: DeliveryClaim, settlements: readonly Settlement[]): Promise<CommitResult> {
    const keys = new KeysOfChange(keysOf(claim.source));
    const args = ownerArguments(claim);
    for (const { place, next } of settlements) {
      const moved = next === null ? '' : encodeMember({ ...place, dueAtMs: next.dueAtMs }, next.attempts);
      args.push(keys.numberOf(place.webhook), encodePlace(place), moved);
    }
    return change(claim, settleScript, keys.names, args);
  }

  async function drop(claim: DeliveryClaim, webhook: string): Promise<CommitResult> {
    const keys = new KeysOfChange(keysOf(claim.source));
    keys.numberOf(webhook);
    return change(claim, dropScript, keys.names, [...ownerArguments(claim), freshId()]);
  }

  async function erase(source: DeliverySource, webhook: string, places: readonly DeliveryPlace[]): Promise<void> {
    const keys = new KeysOfChange(keysOf(source));
    keys.numberOf(webhook);
    for (let start = 0; start < places.length; start += maxSettlementsPerScript) {
      await run(eraseScript, keys.names, places.slice(start, start + maxSettlementsPerScript).map(encodePlace));
    }
  }

  async function waiting(
    source: DeliverySource,
    webhook: string,
    limit: number,
    after?: DeliveryPlace,
  ): Promise<WaitingDelivery[]> {
    const keys = keysOf(source);
    const all: WaitingDelivery[] = [];
    for (let place = after; all.length < limit; place = all.at(-1)) {
      const asked = Math.min(limit - all.length, maxReadsPerScript);
      const args = [place === undefined ? '-' : boundAfter(place), `${asked}`, `${readTargetBytes}`];
      const answer = await run(waitingScript, [keys.places(webhook), keys.values(webhook)], args);
      const [found, page] = answer as [number, Buffer[]];
      for (let i = 0; i < page.length; i += 2) all.push(decodeWaiting(webhook, page[i]!, page[i + 1]!));
      if (found < asked && page.length === 2 * found) break;
    }
    return all;
  }

  /** Reads pages of ids. Their order is the same on every server, so that a failover in between skips none. */
  async function webhooks(source: DeliverySource): Promise<NextDue[]> {
    const keys = keysOf(source);
    const all: NextDue[] = [];
    for (let start = '-'; ; ) {
      const ids = await redis.withRetries(() =>
        client.zrange(keys.webhooks, start, '+', 'BYLEX', 'LIMIT', 0, maxReadsPerScript),
      );
      if (ids.length > 0) all.push(...(await nextDueOf(keys, ids)));
      if (ids.length < maxReadsPerScript) return all;
      start = `(${ids.at(-1)}`;
    }
  }

  /** Omits webhooks without queued deliveries. */
  async function nextDueOf(keys: SourceKeys, ids: readonly string[]): Promise<NextDue[]> {
    const places = ids.map((webhook) => keys.places(webhook));
    const firsts = (await run(firstsScript, places, [])) as Buffer[];
    return ids.flatMap((webhook, i) => {
      const first = firsts[i]!;
      return first.length === 0 ? [] : [{ webhook, nextDueAtMs: dueAtMsOf(first) }];
    });
  }

  async function verify(claims: readonly DeliveryClaim[]): Promise<ClaimState[]> {
    return Promise.all(claims.map(verifyOne));
  }

  async function verifyOne(claim: DeliveryClaim): Promise<ClaimState> {
    const { offset: knownOffset, changes: knownChanges } = progressOf(claim);
    const held = await unlessUnavailable(() => client.hmget(keysOf(claim.source).meta, 'token', 'offset', 'changes'));
    if (held === undefined) return 'unknown';
    const [token, offset, changes] = held.map((value) => Number(value ?? 0)) as [number, number, number];
    if (token !== claim.token) return token > claim.token ? 'claimed' : 'fallen_back';
    return offset < knownOffset || changes < knownChanges ? 'fallen_back' : 'held';
  }

  async function position(source: DeliverySource): Promise<Position> {
    const [offset, mark] = await redis.withRetries(() => client.hmget(keysOf(source).meta, 'offset', 'mark'));
    return { offset: Number(offset ?? 0), mark: mark || null };
  }

  async function size(): Promise<number> {
    const sizes = deliverySources({ partitions: () => partitions }).map((source) =>
      redis.withRetries(() => client.hget(keysOf(source).meta, 'size')),
    );
    return (await Promise.all(sizes)).reduce((sum, size) => sum + Number(size), 0);
  }

  return {
    claim,
    add,
    waiting,
    webhooks,
    settle,
    drop,
    erase,
    verify,
    position,
    onReturn: redis.onReturn,
    size,
    ...createReplacements(redis),
    ...createWebhookHealths(redis),
  };
}

/** The keys of a script that changes deliveries. It numbers the webhooks in the order of their first use. */
class KeysOfChange {
  readonly names: string[];
  readonly #keys: SourceKeys;
  readonly #numbers = new Map<string, string>();

  constructor(keys: SourceKeys) {
    this.#keys = keys;
    this.names = [keys.meta, keys.webhooks];
  }

  numberOf(webhook: string): string {
    let number = this.#numbers.get(webhook);
    if (number === undefined) {
      number = `${this.#numbers.size + 1}`;
      this.#numbers.set(webhook, number);
      this.names.push(this.#keys.places(webhook), this.#keys.values(webhook));
    }
    return number;
  }
}
