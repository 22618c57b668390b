/**
 * Limits the processor time of a key's maps with a bucket that refills steadily.
 *
 * A map is admitted while any time is left, whatever it costs, so that the largest map can be drawn. The bucket may
 * become negative, and the next map waits until it has refilled. A map that took more than its estimate is charged the
 * difference.
 */
import { createBoundedCache } from '../../schemas/bounded-cache.js';
import { ApiError } from '../../schemas/errors.js';

/** Limits the processor time that the maps of an API key take. */
export interface CostLimit {
  /** Throws ApiError `rate_limited` when the key has used up its time. */
  charge(key: string, costMs: number): void;
  /** Charges the difference to the estimate afterwards. */
  chargeMore(key: string, costMs: number): void;
  /** Returns what was charged for work that never began. */
  giveBack(key: string, costMs: number): void;
}

/** Capacity of a bucket, in seconds of refill. */
export const burstS = 30;
const maxKeys = 100_000;
/** Costs are not integers. */
const rounding = 1e-6;

interface Bucket {
  readonly leftMs: number;
  readonly atMs: number;
}

/** Creates the limit. `perSecond` is processor milliseconds, 0 for no limit. The clock returns epoch milliseconds. */
export function createCostLimit(perSecond: number, clock: () => number): CostLimit {
  const capacityMs = burstS * perSecond;
  const buckets = createBoundedCache<string, Bucket>(maxKeys);
  const leftOf = (key: string, nowMs: number): number => {
    const bucket = buckets.get(key);
    if (!bucket) return capacityMs;
    if (nowMs >= bucket.atMs) return Math.min(capacityMs, bucket.leftMs + ((nowMs - bucket.atMs) / 1_000) * perSecond);
    // The clock was set back. The bucket refills from now on, or it would stay as it is for as long as the step.
    buckets.set(key, { leftMs: bucket.leftMs, atMs: nowMs });
    return bucket.leftMs;
  };
  const take = (key: string, costMs: number): void => {
    const atMs = clock();
    buckets.set(key, { leftMs: leftOf(key, atMs) - costMs, atMs });
  };
  return {
    charge(key, costMs) {
      if (perSecond === 0) return;
      const leftMs = leftOf(key, clock());
      if (leftMs < -rounding) {
        const retryAfterS = Math.max(1, Math.ceil(-leftMs / perSecond - rounding));
        throw new ApiError('rate_limited', `the maps of this key have cost more than ${perSecond} a second`, {
          retryAfterS,
        });
      }
      take(key, costMs);
    },
    chargeMore(key, costMs) {
      if (perSecond > 0 && costMs > 0) take(key, costMs);
    },
    giveBack(key, costMs) {
      if (perSecond > 0) take(key, -costMs);
    },
  };
}
