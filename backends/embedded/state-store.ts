/**
 * The state store on LMDB: states, position and owner token of each partition. A commit is one transaction, which
 * checks token and position, writes states and position, and appends the records to publish. So it needs no outbox.
 */
import type { Claim, ClaimState, Commit, CommitResult, StateStore, Topic } from '../../pipeline/ports.js';
import { markAfter, maxKeyBytes, partitionKey } from './keys.js';
import type { Storage } from './storage.js';
import type { RecordGroup } from './topic-store.js';

interface Ownership {
  readonly token: number;
  readonly nextOffset: number;
  readonly mark: string | null;
}

const unowned: Ownership = { token: 0, nextOffset: 0, mark: null };
const ownershipBytes = 16;

function decodeOwnership(value: Buffer | undefined): Ownership {
  if (value === undefined) return unowned;
  return { token: value.readDoubleBE(0), nextOffset: value.readDoubleBE(8), mark: markAfter(value, ownershipBytes) };
}

/** `[token f64][next offset f64]`, then the mark in UTF-8. */
function encodeOwnership({ token, nextOffset, mark }: Ownership): Buffer {
  const value = Buffer.alloc(ownershipBytes + Buffer.byteLength(mark ?? ''));
  value.writeDoubleBE(token, 0);
  value.writeDoubleBE(nextOffset, 8);
  value.write(mark ?? '', ownershipBytes);
  return value;
}

/** Throws when `[partition u16][device key]` is too long for LMDB. */
function checkKey(key: string): void {
  // A UTF-16 unit takes at most three bytes, so most keys need not be measured.
  if (2 + key.length * 3 <= maxKeyBytes) return;
  const bytes = 2 + Buffer.byteLength(key);
  if (bytes > maxKeyBytes) throw new Error(`a device key has ${bytes} bytes: the limit is ${maxKeyBytes}`);
}

/** Returns a function that writes `[partition u16][device key]` to a reused buffer. LMDB copies keys at once. */
function createStateKeys(): (partition: number, key: string) => Buffer {
  const buffer = Buffer.allocUnsafe(maxKeyBytes);
  return (partition, key) => {
    buffer.writeUInt16BE(partition, 0);
    return buffer.subarray(0, 2 + buffer.write(key, 2));
  };
}

/** Makes a store whose commits are visible when they resolve, and reach the disk soon after, in order. */
export function createStateStore({ stateEnvironment, topics, wakeups }: Storage): StateStore {
  const owners = stateEnvironment.table('owners');
  const states = stateEnvironment.table('states');
  const stateKey = createStateKeys();

  /** Encodes the records to publish before the transaction, in which nothing may fail. */
  function prepare(publish: Commit['publish']): { readonly topic: Topic; readonly group: RecordGroup }[] {
    return publish
      .filter(({ records }) => records.length > 0)
      .map(({ topic, records }) => {
        const store = topics[topic];
        if (store.environment !== stateEnvironment) throw new Error(`a commit can't publish to ${topic}`);
        const group = store.group();
        for (const record of records) {
          store.check(record);
          group.add(record);
        }
        return { topic, group };
      });
  }

  async function claim(partition: number): Promise<Claim> {
    return stateEnvironment.transaction(() => {
      const { token, nextOffset, mark } = decodeOwnership(owners.getBinary(partitionKey(partition)));
      const claimed = { token: token + 1, nextOffset, mark };
      owners.putSync(partitionKey(partition), encodeOwnership(claimed));
      return { partition, ...claimed };
    });
  }

  async function load(partition: number, keys: readonly string[]): Promise<(Buffer | undefined)[]> {
    stateEnvironment.refresh();
    for (const key of keys) checkKey(key);
    return keys.map((key) => states.getBinary(stateKey(partition, key)));
  }

  function writeStates(partition: number, changed: Commit['states']): void {
    for (const [key, value] of changed) {
      if (value === null) states.removeSync(stateKey(partition, key));
      else states.putSync(stateKey(partition, key), value);
    }
  }

  async function commit({ partition, token }: Claim, commit: Commit): Promise<CommitResult> {
    for (const key of commit.states.keys()) checkKey(key);
    const publications = prepare(commit.publish);
    const result = await stateEnvironment.transaction((): CommitResult => {
      const owner = decodeOwnership(owners.getBinary(partitionKey(partition)));
      if (owner.token !== token || owner.nextOffset !== commit.expectedOffset) return 'fenced';
      writeStates(partition, commit.states);
      const nowMs = Date.now();
      for (const { group } of publications) group.write(nowMs);
      owners.putSync(
        partitionKey(partition),
        encodeOwnership({ token, nextOffset: commit.nextOffset, mark: commit.mark ?? null }),
      );
      return 'committed';
    });
    for (const { group } of publications) group.release();
    if (result === 'committed' && publications.length > 0) wakeups.wake(publications.map(({ topic }) => topic));
    return result;
  }

  function ownershipOf(partition: number): Ownership {
    stateEnvironment.refresh();
    return decodeOwnership(owners.getBinary(partitionKey(partition)));
  }

  return {
    claim,
    load,
    commit,
    verify: async (claims) =>
      claims.map(({ partition, token }): ClaimState => (ownershipOf(partition).token === token ? 'held' : 'claimed')),
    async position(partition) {
      const { nextOffset, mark } = ownershipOf(partition);
      return { offset: nextOffset, mark };
    },
    // The store is in this process and never out of reach.
    onReturn: () => () => {},
  };
}
