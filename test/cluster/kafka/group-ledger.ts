/**
 * Records the commits of a group's consumers, in Redis for any number of processes. Each partition has a token and a
 * position, as in a state store, and the ledger of all commits under them.
 *
 * Input: the records of a handler. Output: the committed ranges of offsets with their tokens, in the order of the
 * commits.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { LogRecord, StreamHandler } from '../../../pipeline/ports.js';

/** One commit: offsets from `from` to `end`, exclusive. */
export interface Entry {
  readonly token: number;
  readonly from: number;
  readonly end: number;
}

const claim = `return { redis.call('INCR', KEYS[1] .. 'token'), redis.call('GET', KEYS[1] .. 'position') or '0' }`;
const commit = `
  if redis.call('GET', KEYS[1] .. 'token') ~= ARGV[1] then return 0 end
  if (redis.call('GET', KEYS[1] .. 'position') or '0') ~= ARGV[2] then return 0 end
  redis.call('SET', KEYS[1] .. 'position', ARGV[3])
  redis.call('RPUSH', KEYS[1] .. 'ledger', table.concat(ARGV, ' '))
  return 1`;

export class GroupLedger {
  constructor(
    private readonly redis: Redis,
    private readonly prefix: string,
  ) {}

  async claim(partition: number): Promise<{ token: number; nextOffset: number }> {
    const [token, nextOffset] = (await this.redis.eval(claim, 1, this.#key(partition))) as [number, string];
    return { token, nextOffset: Number(nextOffset) };
  }

  /** Returns false, and writes nothing, when another owner has claimed the partition or the position differs. */
  async commit(partition: number, { token, from, end }: Entry): Promise<boolean> {
    return (await this.redis.eval(commit, 1, this.#key(partition), token, from, end)) === 1;
  }

  async entries(partition: number): Promise<Entry[]> {
    const lines = await this.redis.lrange(`${this.#key(partition)}ledger`, 0, -1);
    return lines.map((line) => {
      const [token, from, end] = line.split(' ').map(Number) as [number, number, number];
      return { token, from, end };
    });
  }

  async remove(): Promise<void> {
    const keys = await this.redis.keys(`${this.prefix}*`);
    if (keys.length > 0) await this.redis.unlink(keys);
  }

  #key(partition: number): string {
    return `${this.prefix}${partition}:`;
  }
}

/** A line of a member's output. */
export interface Told {
  readonly event: 'assigned' | 'handed' | 'committed' | 'fenced' | 'revoked';
  readonly partition: number;
  readonly from?: number;
  readonly end?: number;
}

/** Commits records like the location stage: a refused commit is repeated under a new claim. */
export function ledgerHandler(ledger: GroupLedger, workMs: () => number, tell: (told: Told) => void): StreamHandler {
  const claims = new Map<number, { token: number; nextOffset: number }>();
  const claimed = async (partition: number): Promise<number> => {
    const mine = await ledger.claim(partition);
    claims.set(partition, mine);
    return mine.nextOffset;
  };

  return {
    async assigned(partition) {
      tell({ event: 'assigned', partition });
      return claimed(partition);
    },
    async records(partition, records: readonly LogRecord[]) {
      const end = records.at(-1)!.offset + 1;
      const range = { partition, from: records[0]!.offset, end };
      tell({ event: 'handed', ...range });
      for (let next = claims.get(partition)!.nextOffset; next < end; ) {
        if (next < range.from)
          throw new Error(`partition ${partition}: handed from ${range.from} on, but ${next} is the next`);
        await delay(workMs());
        if (await ledger.commit(partition, { token: claims.get(partition)!.token, from: next, end })) {
          claims.get(partition)!.nextOffset = end;
          tell({ event: 'committed', ...range });
          return;
        }
        tell({ event: 'fenced', ...range });
        next = await claimed(partition);
      }
    },
    async revoked(partition) {
      claims.delete(partition);
      tell({ event: 'revoked', partition });
    },
  };
}
