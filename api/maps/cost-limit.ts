/**
 * What the maps of a key may cost: a bucket of processor time that refills steadily.
 *
 * A map is admitted while there is any time left, whatever it costs, so that the largest map can be drawn; the bucket
 * then goes below empty and the next map waits until it has refilled. A map that took more than its estimate is charged
 * the difference.
 */
import { LRUCache } from 'lru-cache';
import { ApiError } from '../../schemas/errors.js';

export interface CostLimit {
  /** Throws ApiError `rate_limited` when the key has used up its time. */
  charge(key: string, costMs: number): void;
  /** Charges what was known only afterwards. */
  chargeMore(key: string, costMs: number): void;
}

/** How much a bucket holds, in seconds of its refilling. */
export const burstS = 30;
const maxKeys = 100_000;
/** Sums of costs are not whole numbers. */
const rounding = 1e-6;

interface Bucket {
  readonly leftMs: number;
  readonly atMs: number;
}

/** `perSecond` is in milliseconds of a processor, 0 for no limit; the clock's epoch ms. */
export function createCostLimit(perSecond: number, clock: () => number): CostLimit {
  const capacityMs = burstS * perSecond;
  const buckets = new LRUCache<string, Bucket>({ max: maxKeys });
  const leftOf = (key: string, nowMs: number): number => {
    const bucket = buckets.get(key);
    if (!bucket) return capacityMs;
    return Math.min(capacityMs, bucket.leftMs + (Math.max(0, nowMs - bucket.atMs) / 1_000) * perSecond);
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
  };
}
