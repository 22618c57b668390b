/**
 * The current followers of topic `events` on this node: streams, and polls that wait. Their number is bounded, and the
 * tailer runs while there are any.
 */
import type { Caller } from '../../http/access/keys.js';
import type { Log } from '../../pipeline/ports.js';
import { scopeName } from '../../pipeline/records/device-key.js';
import { ApiError } from '../../schemas/errors.js';
import { createOpenCounts } from '../../schemas/open-counts.js';
import { startTailer, type Tailer } from './tailer.js';

/** Limits of open streams and waiting reads on this node. */
export interface FollowerBounds {
  readonly maxFollowers: number;
  readonly maxFollowersPerProject: number;
  readonly maxFollowersPerKey: number;
}

/** The bounds of a server. */
export const defaultFollowerBounds: FollowerBounds = {
  maxFollowers: 1_000,
  maxFollowersPerProject: 250,
  maxFollowersPerKey: 100,
};

/** Membership of a follower; must be left once. */
export interface Membership {
  readonly tailer: Tailer;
  /** Aborted when the follower must finish at once. */
  readonly closing: AbortSignal;
  leave(): void;
}

/** The clients that follow a topic on this node, which are limited together. */
export interface Followers {
  /**
   * Adds a follower of an API key or session. Throws `overloaded`, `rate_limited` or `unavailable`.
   * @param project null for the admin API key, which belongs to none.
   */
  join(project: string | null, key: string): Promise<Membership>;
  /** Ends all followers and refuses new ones. */
  close(): void;
}

/** Identifies the API key or session of a follower. */
export const keyName = (caller: Caller): string => `${scopeName(caller)}/${caller.keyHint}`;

const retryAfterS = 10;

/**
 * Creates the list of the current followers, without any.
 * @param onChange called with 1 and -1 as followers join and leave.
 */
export function createFollowers(
  log: Log,
  { maxFollowers, maxFollowersPerProject, maxFollowersPerKey }: FollowerBounds,
  onChange: (change: number) => void = () => {},
): Followers {
  const followers = new Set<AbortController>();
  const ofProjects = createOpenCounts();
  const ofKeys = createOpenCounts();
  let tailer: Promise<Tailer> | undefined;
  let isClosed = false;

  function admit(project: string | null, key: string): void {
    if (isClosed) throw new ApiError('unavailable', 'the server is stopping', { retryAfterS });
    if (followers.size >= maxFollowers) {
      throw new ApiError('overloaded', `${maxFollowers} streams are open on this node`, { retryAfterS });
    }
    if (project !== null && ofProjects.of(project) >= maxFollowersPerProject) {
      const rule = `${maxFollowersPerProject} streams of this project are open on this node`;
      throw new ApiError('rate_limited', rule, { retryAfterS });
    }
    if (ofKeys.of(key) >= maxFollowersPerKey) {
      throw new ApiError('rate_limited', `${maxFollowersPerKey} streams are open with this key`, { retryAfterS });
    }
  }

  /** Counts a follower. Returns the function that takes it off again. */
  function count(project: string | null, key: string): () => void {
    const leaving = [ofKeys.add(key), ...(project === null ? [] : [ofProjects.add(project)])];
    return () => {
      for (const each of leaving) each();
    };
  }

  function leave(follower: AbortController, uncount: () => void): void {
    if (followers.delete(follower)) onChange(-1);
    uncount();
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
    async join(project, key) {
      admit(project, key);
      const follower = new AbortController();
      followers.add(follower);
      onChange(1);
      const uncount = count(project, key);
      tailer ??= startTailer(log);
      const starting = tailer;
      try {
        return { tailer: await starting, closing: follower.signal, leave: () => leave(follower, uncount) };
      } catch (error) {
        // The next one who joins starts another, even while others are still here.
        if (tailer === starting) tailer = undefined;
        leave(follower, uncount);
        throw error;
      }
    },
    close() {
      isClosed = true;
      for (const follower of followers) follower.abort();
    },
  };
}
