/** Keeps caches of records true to the read model. */
import type { ConfigurationReader } from '../types.js';

/** What a cache forgets. */
export interface Forgetting {
  /** Forgets a record that has changed. */
  one(kind: string, id: string): void;
  /** Forgets everything, because nobody knows what has changed. */
  all(): void;
}

/** Returns a function that forgets what has changed since its last call. */
export function createForgetter(
  configuration: Pick<ConfigurationReader, 'version' | 'feed'>,
  forget: Forgetting,
): () => void {
  let version = configuration.version;
  return () => {
    const latest = configuration.version;
    if (latest === version) return;
    const changed = configuration.feed(version)?.things;
    version = latest;
    if (changed === undefined) forget.all();
    else for (const { kind, id } of changed) forget.one(kind, id);
  };
}
