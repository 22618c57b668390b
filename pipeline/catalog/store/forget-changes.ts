/** Keeps caches of records true to the read model. */
import type { ConfigurationReader } from '../types.js';

/** A cache of records by id. */
interface RecordCache {
  delete(id: string): void;
  clear(): void;
}

/**
 * Returns a function that removes from the caches what has changed since its last call. It removes everything when
 * nobody knows what has changed.
 */
export function createForgetter(
  configuration: Pick<ConfigurationReader, 'version' | 'feed'>,
  caches: { readonly geofence: RecordCache; readonly beacon: RecordCache },
): () => void {
  let version = configuration.version;
  return () => {
    const latest = configuration.version;
    if (latest === version) return;
    const changed = configuration.feed(version)?.things;
    version = latest;
    if (changed === undefined) {
      caches.geofence.clear();
      caches.beacon.clear();
      return;
    }
    for (const { kind, id } of changed) {
      if (kind === 'geofence' || kind === 'beacon') caches[kind].delete(id);
    }
  };
}
