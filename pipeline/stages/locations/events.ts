/**
 * Builds events from transitions, with an id that every run derives alike and the current definition of the geofence or
 * beacon.
 */
import { type BoundedCache, createBoundedCacheOfWeight } from '../../../schemas/bounded-cache.js';
import { minuteMs } from '../../../schemas/durations.js';
import { deriveId } from '../../../schemas/ids.js';
import type { Event, EventBeacon, EventGeofence, Location, UserState } from '../../../schemas/records.js';
import { eventBeacon, eventGeofence } from '../../../schemas/wire/geofence.js';
import type { CacheUse } from '../../cache-use.js';
import { createForgetter } from '../../catalog/store/forget-changes.js';
import type { ConfigurationReader, Scope } from '../../catalog/types.js';
import type { Transition } from '../../evaluation/types.js';

/** Of about 0.5 kB. Reading one from the store costs as much as the rest of its event. */
const cachedDefinitions = 100_000;
const charactersPerDefinition = 512;

/** Returns how many definitions a definition counts for: its metadata may have 64 kB. */
const weightOf = ({ metadata }: EventGeofence | EventBeacon): number =>
  1 + Math.floor((metadata?.length ?? 0) / charactersPerDefinition);

/** Definitions of geofences and beacons as events contain them. */
export interface Definitions {
  readonly use: CacheUse;
  /** Forgets the definitions that have changed. */
  refresh(): void;
  geofence(scope: Scope, id: string): EventGeofence | undefined;
  beacon(scope: Scope, id: string): EventBeacon | undefined;
}

/** Creates a cached reader of definitions. */
export function createDefinitions(
  configuration: Pick<ConfigurationReader, 'version' | 'feed' | 'storedGeofenceHead' | 'beacon'>,
): Definitions {
  const geofences = createBoundedCacheOfWeight<string, EventGeofence>(cachedDefinitions, weightOf);
  const beacons = createBoundedCacheOfWeight<string, EventBeacon>(cachedDefinitions, weightOf);
  const refresh = createForgetter(configuration, { geofence: geofences, beacon: beacons });
  let hits = 0;
  let misses = 0;

  function cached<Record, Definition extends object>(
    cache: BoundedCache<string, Definition>,
    find: (scope: Scope, id: string) => Record | undefined,
    toDefinition: (record: Record) => Definition,
  ) {
    return (scope: Scope, id: string): Definition | undefined => {
      const known = cache.get(id);
      if (known) {
        hits += 1;
        return known;
      }
      misses += 1;
      const record = find(scope, id);
      if (record === undefined) return undefined;
      const definition = toDefinition(record);
      cache.set(id, definition);
      return definition;
    };
  }

  return {
    get use() {
      return { hits, misses, entries: geofences.size + beacons.size };
    },
    refresh,
    geofence: cached(geofences, (scope, id) => configuration.storedGeofenceHead(scope, id), eventGeofence),
    beacon: cached(beacons, (scope, id) => configuration.beacon(scope, id), eventBeacon),
  };
}

/**
 * Builds the event of a transition; undefined when its geofence or beacon was deleted meanwhile. `user` is the state
 * after the location.
 */
export function eventOf(
  location: Location,
  user: UserState,
  transition: Transition,
  definitions: Definitions,
): Event | undefined {
  const { project, environment, deviceId } = location;
  const isBeacon = transition.type === 'user.entered_beacon' || transition.type === 'user.exited_beacon';
  const geofence = isBeacon ? null : definitions.geofence(location, transition.id);
  const beacon = isBeacon ? definitions.beacon(location, transition.id) : null;
  if (geofence === undefined || beacon === undefined) return undefined;
  return {
    id: deriveId(project, environment, deviceId, location.id, transition.id, transition.type),
    type: transition.type,
    project,
    environment,
    createdAt: location.occurredAt,
    actualCreatedAt: location.receivedAt,
    locationId: location.id,
    user: { id: user.id, userId: user.userId, deviceId, profile: user.profile },
    geofence,
    beacon,
    longitude: location.longitude,
    latitude: location.latitude,
    accuracy_m: location.accuracy_m,
    confidence: transition.confidence,
    duration_min: transition.durationMs === null ? null : transition.durationMs / minuteMs,
    currentlyOperating: transition.currentlyOperating,
    foreground: location.foreground,
    stopped: location.stopped,
    replayed: location.replayed,
    source: location.source,
    metadata: null,
  };
}
