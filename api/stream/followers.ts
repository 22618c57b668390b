/**
 * The current followers of topic `events` on this node: streams, and polls that wait. Their number is bounded, and the
 * tailer runs while there are any.
 */
import type { Log } from '../../pipeline/ports.js';
import { ApiError } from '../../schemas/errors.js';
import { startTailer, type Tailer } from './tailer.js';

export interface FollowerBounds {
  readonly maxFollowers: number;
  readonly maxFollowersPerKey: number;
}

export const defaultFollowerBounds: FollowerBounds = { maxFollowers: 1_000, maxFollowersPerKey: 100 };

/** Membership of a follower; must be left once. */
export interface Membership {
  readonly tailer: Tailer;
  /** Aborted when the follower must finish at once. */
  readonly closing: AbortSignal;
  leave(): void;
}

export interface Followers {
  /** Adds a follower of API key `key`. Throws `overloaded`, `rate_limited` or `unavailable`. */
  join(key: string): Promise<Membership>;
  /** Ends all followers and refuses new ones. */
  close(): void;
}

const retryAfterS = 10;

/** @param onChange called with 1 and -1 as followers join and leave. */
export function createFollowers(
  log: Log,
  { maxFollowers, maxFollowersPerKey }: FollowerBounds,
  onChange: (change: number) => void = () => {},
): Followers {
  const followers = new Set<AbortController>();
  const countOf = new Map<string, number>();
  let tailer: Promise<Tailer> | undefined;
  let isClosed = false;

  function admit(key: string): void {
    if (isClosed) throw new ApiError('unavailable', 'the server is stopping', { retryAfterS });
    if (followers.size >= maxFollowers) {
      throw new ApiError('overloaded', `${maxFollowers} streams are open on this node`, { retryAfterS });
    }
    if ((countOf.get(key) ?? 0) >= maxFollowersPerKey) {
      throw new ApiError('rate_limited', `${maxFollowersPerKey} streams are open with this key`, { retryAfterS });
    }
  }

  function leave(key: string, follower: AbortController): void {
    if (followers.delete(follower)) onChange(-1);
    const others = countOf.get(key)! - 1;
    if (others > 0) countOf.set(key, others);
    else countOf.delete(key);
    if (followers.size > 0) return;
    const last = tailer;
    tailer = undefined;
    void last?.then(
      (idle) => idle.close(),
      // `join` reports that it did not start.
      () => {},
    );
  }

  return {
    async join(key) {
      admit(key);
      const follower = new AbortController();
      followers.add(follower);
      onChange(1);
      countOf.set(key, (countOf.get(key) ?? 0) + 1);
      tailer ??= startTailer(log);
      const starting = tailer;
      try {
        return { tailer: await starting, closing: follower.signal, leave: () => leave(key, follower) };
      } catch (error) {
        // The next one who joins starts another, even while others are still here.
        if (tailer === starting) tailer = undefined;
        leave(key, follower);
        throw error;
      }
    },
    close() {
      isClosed = true;
      for (const follower of followers) follower.abort();
    },
  };
}
