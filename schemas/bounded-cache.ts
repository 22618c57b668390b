/** A cache with a limit, whose memory grows with its entries. */
import { LRUCache } from 'lru-cache';

/** A cache that evicts what was least recently used. It never holds undefined, which means that a key is missing. */
export type BoundedCache<Key extends object | string | number, Value extends object | string | number> = LRUCache<
  Key,
  Value
>;

/**
 * Creates a cache of at most `maxEntries`, which evicts the least recently used. With its option `max`, LRUCache
 * reserves the memory of all entries at once: for 100,000 of them 4 MB, and 6 ms at each start.
 */
export function createBoundedCache<Key extends object | string | number, Value extends object | string | number>(
  maxEntries: number,
): BoundedCache<Key, Value> {
  return createBoundedCacheOfWeight(maxEntries, () => 1);
}

/** Creates a cache of entries with weights, at most `maxWeight` in all. */
export const createBoundedCacheOfWeight = <
  Key extends object | string | number,
  Value extends object | string | number,
>(
  maxWeight: number,
  weightOf: (value: Value) => number,
): BoundedCache<Key, Value> => new LRUCache({ maxSize: maxWeight, sizeCalculation: weightOf });
