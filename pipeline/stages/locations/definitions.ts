/**
 * Reads definitions of geofences and beacons as events contain them.
 *
 * Long metadata is cached apart, and read only for the events that have it: a user may enter a thousand geofences with
 * 64 kB each, more than all caches hold.
 */
import { createBoundedCacheOfWeight } from '../../../schemas/bounded-cache.js';
import type { EventBeacon, EventGeofence } from '../../../schemas/records.js';
import { eventBeacon, eventGeofence } from '../../../schemas/wire/geofence.js';
import type { CacheUse } from '../../cache-use.js';
import { createForgetter } from '../../catalog/store/forget-changes.js';
import type { ConfigurationReader, Scope } from '../../catalog/types.js';

/** Of about 0.5 kB. Reading one from the store costs as much as the rest of its event. */
const cachedDefinitions = 100_000;
const charactersPerDefinition = 512;
const maxShortCharacters = 1_024;
/** Of long metadata, for geofences and beacons each. */
const cachedLongCharacters = 16 * 2 ** 20;

type Content = EventGeofence | EventBeacon;

/** A definition whose metadata is read only if an event has it. */
export interface Definition<Of extends Content> {
  /** Length of the metadata as JSON. */
  readonly metadataCharacters: number;
  whole(): Of;
  withoutMetadata(): Of;
}

/** Definitions of geofences and beacons as events contain them. */
export interface Definitions {
  readonly use: CacheUse;
  /** Forgets the definitions that have changed. */
  refresh(): void;
  geofence(scope: Scope, id: string): Definition<EventGeofence> | undefined;
  beacon(scope: Scope, id: string): Definition<EventBeacon> | undefined;
}

/** Creates a cached reader of definitions. */
export function createDefinitions(
  configuration: Pick<ConfigurationReader, 'version' | 'feed' | 'storedGeofenceHead' | 'beacon'>,
): Definitions {
  const geofences = new CachedDefinitions((scope, id) => {
    const record = configuration.storedGeofenceHead(scope, id);
    return record && eventGeofence(record);
  });
  const beacons = new CachedDefinitions((scope, id) => {
    const record = configuration.beacon(scope, id);
    return record && eventBeacon(record);
  });
  return {
    get use() {
      return {
        hits: geofences.hits + beacons.hits,
        misses: geofences.misses + beacons.misses,
        entries: geofences.entries + beacons.entries,
      };
    },
    refresh: createForgetter(configuration, { geofence: geofences, beacon: beacons }),
    geofence: (scope, id) => geofences.get(scope, id),
    beacon: (scope, id) => beacons.get(scope, id),
  };
}

/** Definitions of one kind, by id. */
class CachedDefinitions<Of extends Content> {
  readonly #read: (scope: Scope, id: string) => Of | undefined;
  readonly #definitions = createBoundedCacheOfWeight<string, Definition<Of>>(cachedDefinitions, weightOf);
  readonly #longMetadata = createBoundedCacheOfWeight<string, string>(cachedLongCharacters, ({ length }) => length);
  hits = 0;
  misses = 0;

  constructor(read: (scope: Scope, id: string) => Of | undefined) {
    this.#read = read;
  }

  get entries(): number {
    return this.#definitions.size;
  }

  get(scope: Scope, id: string): Definition<Of> | undefined {
    const known = this.#definitions.get(id);
    if (known) {
      this.hits += 1;
      return known;
    }
    this.misses += 1;
    const content = this.#read(scope, id);
    if (content === undefined) return undefined;
    const definition = this.#definitionOf(scope, content);
    this.#definitions.set(id, definition);
    return definition;
  }

  #definitionOf(scope: Scope, content: Of): Definition<Of> {
    const { id, metadata } = content;
    const metadataCharacters = metadata?.length ?? 0;
    const bare = metadata === null ? content : { ...content, metadata: null };
    if (metadata === null || metadataCharacters <= maxShortCharacters)
      return { metadataCharacters, whole: () => content, withoutMetadata: () => bare };
    this.#longMetadata.set(id, metadata);
    const whole = (): Of => ({ ...bare, metadata: this.#longMetadataOf(scope, id) });
    return { metadataCharacters, whole, withoutMetadata: () => bare };
  }

  /** Returns null if the record was deleted meanwhile. */
  #longMetadataOf(scope: Scope, id: string): string | null {
    const known = this.#longMetadata.get(id);
    if (known !== undefined) return known;
    const metadata = this.#read(scope, id)?.metadata ?? null;
    if (metadata !== null) this.#longMetadata.set(id, metadata);
    return metadata;
  }

  delete(id: string): void {
    this.#definitions.delete(id);
    this.#longMetadata.delete(id);
  }

  clear(): void {
    this.#definitions.clear();
    this.#longMetadata.clear();
  }
}

/** Returns how many definitions of usual size a definition counts for. */
const weightOf = ({ metadataCharacters }: Definition<Content>): number =>
  1 + (metadataCharacters <= maxShortCharacters ? Math.floor(metadataCharacters / charactersPerDefinition) : 0);
