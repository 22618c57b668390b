/** Keeps caches of records true to the read model. */
import type { ConfigurationReader } from '../types.js';

/** A cache of records by id. */
interface RecordCache {
  delete(id: string): void;
  clear(): void;
}

/** Changes that are read from the feed at once, in some milliseconds. */
const maxForgotten = 2_000;

/**
 * Returns a function that removes from the caches what has changed since its last call. It removes everything when
 * nobody knows what has changed, and after more changes than are read quickly: an import has a million.
 */
export function createForgetter(
  configuration: Pick<ConfigurationReader, 'version' | 'feed'>,
  caches: { readonly geofence: RecordCache; readonly beacon: RecordCache },
): () => void {
  let version = configuration.version;
  return () => {
    const latest = configuration.version;
    if (latest === version) return;
    const page = configuration.feed(version, maxForgotten);
    version = latest;
    if (page === undefined || page.version < latest) {
      caches.geofence.clear();
      caches.beacon.clear();
      return;
    }
    for (const { kind, id } of page.things) {
      if (kind === 'geofence' || kind === 'beacon') caches[kind].delete(id);
    }
  };
}
