/** How caches report their use, for metrics. A process that shows metrics passes an {@link ObserveCache}. */

type CacheName = 'device_states' | 'event_definitions' | 'geocoding' | 'map_files' | 'map_styles';

/** Counts since the start, and the size now. */
export interface CacheUse {
  readonly hits: number;
  readonly misses: number;
  readonly entries: number;
  /** Size of a cache whose limit is in bytes. */
  readonly bytes?: number;
}

/** Shows a cache, which `read` describes whenever metrics are read. */
export type ObserveCache = (name: CacheName, read: () => CacheUse) => void;

/** Observes nothing, in processes without metrics. */
export const ignoreCache: ObserveCache = () => {};
