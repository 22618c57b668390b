/** Changes of the delivery queue on Redis. Each is one script that checks the owner's token, so that it is atomic. */
import type {
  ClaimState,
  CommitResult,
  DeliveryClaim,
  DeliveryPlace,
  DeliveryQueue,
  DeliverySource,
  Settlement,
} from '../../../pipeline/ports.js';
import { freshId } from '../../../schemas/ids.js';
import type { RedisConnection } from './connection.js';
import { checkValue, encodeDue, encodeMember, encodePlace, SourceKeys } from './delivery-queue-layout.js';
import { addScript, claimScript, dropScript, eraseScript, settleScript } from './delivery-queue-scripts.js';
import type { Argument } from './encoded-command.js';
import { unlessUnavailable } from './errors.js';
import { runScript, type Script } from './scripts.js';

/** Limit of one script, which then takes about ten milliseconds. */
const maxSettlementsPerScript = 1_000;

/** The latest state of a source that its owner knows of. Scripts refuse a source that is behind it. */
interface Progress {
  offset: number;
  changes: number;
}

type Changes = Pick<DeliveryQueue, 'claim' | 'add' | 'settle' | 'drop' | 'erase' | 'verify'>;

/** Creates the changes of the delivery queue. */
export function createDeliveryQueueChanges(redis: RedisConnection): Changes {
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

  const add: Changes['add'] = async (claim, { expectedOffset, nextOffset, mark, deliveries }) => {
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

  return { claim, add, settle, drop, erase, verify };
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
