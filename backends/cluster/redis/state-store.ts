/**
 * The state store on Redis: states, position and outbox of each partition.
 *
 * A commit is one script. It checks owner and position, writes states and position, and stores the records to publish
 * in the outbox. Then the records are published and the outbox is deleted. A new owner first publishes what it finds in
 * the outbox. Commands are retried for about a minute during an outage.
 *
 * When Redis loses its last second, it loses owner, position, states and outbox together. The owner is then refused,
 * claims again, and applies the records again. After such a loss two claims may have the same token, so scripts compare
 * unique claim ids instead.
 */
import type {
  Claim,
  ClaimState,
  Commit,
  CommitResult,
  NewRecord,
  Position,
  StateStore,
  Topic,
} from '../../../pipeline/ports.js';
import { freshId } from '../../../schemas/ids.js';
import type { WireSchemas } from '../registry/wire-schemas.js';
import type { RedisConnection } from './connection.js';
import type { Argument } from './encoded-command.js';
import { unlessUnavailable } from './errors.js';
import { decodeOutbox, encodeOutbox } from './outbox.js';
import { runScript } from './scripts.js';
import { claimScript, commitScript, partitionKeys, publishedScript } from './state-scripts.js';
import { createRedisStates, type RedisStates } from './states.js';

type Publish = (topic: Topic, records: readonly NewRecord[]) => Promise<void>;

/** What the state store works with. */
export interface RedisStateStoreParts {
  readonly redis: RedisConnection;
  readonly wire: Pick<WireSchemas, 'toWire'>;
  /** Appends records in wire form. Resolves when they are durable. */
  readonly publish: Publish;
  /** Like `publish`, but omits records that an earlier owner has published. */
  readonly publishMissing: Publish;
  /** Time without a commit after which a device is deleted. 0: never. */
  readonly retentionMs: number;
}

/** A state store whose states and offsets can also be read without a claim. */
export type RedisStateStore = StateStore & RedisStates;

/** What this process knows of a claim. */
interface Ownership {
  readonly id: string;
  /** Offset of the next record to apply, as confirmed by the store. */
  offset: number;
  commits: number;
  /** The last commit. The next one waits for it, because the outbox holds one commit, and fails if it failed. */
  last: Promise<unknown>;
}

/**
 * Creates the store on a connection that the caller opens and closes. Its methods reject after an outage of a minute.
 */
export function createRedisStateStore(parts: RedisStateStoreParts): RedisStateStore {
  const { redis, wire, retentionMs } = parts;
  const ownerships = new WeakMap<Claim, Ownership>();
  const keysOf = (partition: number) => partitionKeys(redis.options.prefix, partition);

  async function claim(partition: number): Promise<Claim> {
    const id = freshId();
    const { meta, outbox } = keysOf(partition);
    const answer = await redis.withRetries(() => runScript(redis, claimScript, [meta, outbox], [id]));
    const [token, offset, lastCommit, unpublished, mark] = answer as [number, ...(Buffer | null)[]];
    if (unpublished) {
      await publishAll(decodeOutbox(unpublished), parts.publishMissing);
      clearOutbox(partition, lastCommit!);
    }
    const nextOffset = Number(offset ?? 0);
    const claimed: Claim = { partition, token, nextOffset, mark: markOrNull(mark) };
    ownerships.set(claimed, { id, offset: nextOffset, commits: 0, last: Promise.resolve() });
    return claimed;
  }

  async function commit(claim: Claim, commit: Commit): Promise<CommitResult> {
    const owner = ownerships.get(claim);
    if (owner === undefined) throw new Error('the claim is of another store');
    const result = owner.last.then(() => commitAndPublish(claim.partition, owner, commit));
    owner.last = result;
    return result;
  }

  async function commitAndPublish(partition: number, owner: Ownership, commit: Commit): Promise<CommitResult> {
    for (const { topic, records } of commit.publish) {
      for (const { value } of records) if (value !== null) wire.toWire(topic, value);
    }
    owner.commits += 1;
    const id = `${owner.id}.${owner.commits}`;
    if (!(await write(partition, owner.id, id, commit))) return 'fenced';
    owner.offset = commit.nextOffset;
    if (commit.publish.length > 0) {
      await publishAll(commit.publish, parts.publish);
      clearOutbox(partition, id);
    }
    return 'committed';
  }

  /** Returns false when the commit was refused. */
  async function write(partition: number, owner: string, id: string, commit: Commit): Promise<boolean> {
    const { meta, outbox, device } = keysOf(partition);
    const keys = [meta, outbox];
    const deleted: string[] = [];
    const offsets = [String(commit.expectedOffset), String(commit.nextOffset)];
    const args: Argument[] = [
      owner,
      id,
      ...offsets,
      String(retentionMs),
      encodeOutbox(commit.publish),
      commit.mark ?? '',
    ];
    for (const [key, state] of commit.states) {
      if (state === null) {
        deleted.push(device + key);
      } else {
        keys.push(device + key);
        args.push(state);
      }
    }
    for (const key of deleted) keys.push(key);
    return (await redis.withRetries(() => runScript(redis, commitScript, keys, args))) === 1;
  }

  async function publishAll(publications: Commit['publish'], publish: Publish): Promise<void> {
    await Promise.all(publications.map(({ topic, records }) => publish(topic, records)));
  }

  /** Not awaited: the next commit replaces the outbox, and a next owner publishes only what is missing. */
  function clearOutbox(partition: number, commit: Argument): void {
    const { meta, outbox } = keysOf(partition);
    runScript(redis, publishedScript, [meta, outbox], [commit]).catch(() => {});
  }

  async function verify(claims: readonly Claim[]): Promise<ClaimState[]> {
    return Promise.all(claims.map(verifyOne));
  }

  async function verifyOne(claim: Claim): Promise<ClaimState> {
    const { id, offset: known } = ownerships.get(claim)!;
    const { meta } = keysOf(claim.partition);
    const held = await unlessUnavailable(() => redis.client.hmget(meta, 'owner', 'token', 'offset'));
    if (held === undefined) return 'unknown';
    const [owner, token, offset] = held;
    if (owner !== id) return Number(token) > claim.token ? 'claimed' : 'fallen_back';
    return Number(offset ?? 0) < known ? 'fallen_back' : 'held';
  }

  async function position(partition: number): Promise<Position> {
    const [offset, mark] = await redis.withRetries(() => redis.client.hmget(keysOf(partition).meta, 'offset', 'mark'));
    return { offset: Number(offset ?? 0), mark: markOrNull(mark) };
  }

  return { claim, commit, verify, position, onReturn: redis.onReturn, ...createRedisStates(redis) };
}

const markOrNull = (mark: Buffer | string | null | undefined): string | null => (mark?.length ? mark.toString() : null);
