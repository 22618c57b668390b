/**
 * States, position and outbox of each partition in Redis. A commit is one script: owner and position are checked in it,
 * states and position written, and what is to be published put into the outbox; then it is published, and the outbox
 * emptied. Whoever claims the partition publishes first what is still there.
 *
 * Flows in: claims, commits. Flows out: states; publications, in wire form, to `publish`. Outages of Redis are sat out.
 *
 * When Redis loses its last second, owner, position, states and outbox fall back together. Who owned the partition is
 * refused then, claims again and applies the records anew. Two who were given one token by a store that fell back in
 * between aren't mistaken for each other: each claim has an id that no other has, and the id is what is compared.
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
import { unlessAway } from './errors.js';
import { decodeOutbox, encodeOutbox } from './outbox.js';
import { runScript, type ScriptArgument } from './scripts.js';
import { claimScript, commitScript, partitionKeys, publishedScript } from './state-scripts.js';
import { createRedisStates, type RedisStates } from './states.js';

type Publish = (topic: Topic, records: readonly NewRecord[]) => Promise<void>;

export interface RedisStateStoreParts {
  readonly redis: RedisConnection;
  readonly wire: Pick<WireSchemas, 'toWire'>;
  /** Appends records that are in wire form. Resolves when they are durable. */
  readonly publish: Publish;
  /** As `publish`, of records that an earlier owner may have published: those that are there already are left out. */
  readonly publishMissing: Publish;
  /** A device that had no commit for so long is forgotten. 0: none ever is. */
  readonly retentionMs: number;
}

export type RedisStateStore = StateStore & RedisStates;

/** What a claim is known by in the store. */
interface Ownership {
  readonly id: string;
  /** Of the next record to apply, as far as the store has confirmed it. */
  offset: number;
  commits: number;
  /**
   * The last commit. The next one waits for it, for an outbox holds one commit; and when it failed there is no next
   * one.
   */
  last: Promise<unknown>;
}

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
      forgetPublished(partition, lastCommit!);
    }
    const nextOffset = Number(offset ?? 0);
    const claimed: Claim = { partition, token, nextOffset, mark: markOrNull(mark) };
    ownerships.set(claimed, { id, offset: nextOffset, commits: 0, last: Promise.resolve() });
    return claimed;
  }

  async function commit(claim: Claim, commit: Commit): Promise<CommitResult> {
    const owner = ownerships.get(claim);
    if (owner === undefined) throw new Error('a claim of another store');
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
      forgetPublished(partition, id);
    }
    return 'committed';
  }

  /** False when it was refused. */
  async function write(partition: number, owner: string, id: string, commit: Commit): Promise<boolean> {
    const { meta, outbox, device } = keysOf(partition);
    const keys = [meta, outbox];
    const deleted: string[] = [];
    const offsets = [String(commit.expectedOffset), String(commit.nextOffset)];
    const args: ScriptArgument[] = [
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

  /** Nobody waits for it: what stays in the outbox is looked for by the next owner, and replaced by the next commit. */
  function forgetPublished(partition: number, commit: ScriptArgument): void {
    const { meta, outbox } = keysOf(partition);
    runScript(redis, publishedScript, [meta, outbox], [commit]).catch(() => {});
  }

  async function verify(claims: readonly Claim[]): Promise<ClaimState[]> {
    return Promise.all(claims.map(verifyOne));
  }

  async function verifyOne(claim: Claim): Promise<ClaimState> {
    const { id, offset: known } = ownerships.get(claim)!;
    const { meta } = keysOf(claim.partition);
    const held = await unlessAway(() => redis.client.hmget(meta, 'owner', 'token', 'offset'));
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
