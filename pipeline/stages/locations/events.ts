/**
 * Builds events from transitions, with an id that every run derives alike and the current definition of the geofence or
 * beacon.
 */
import { minuteMs } from '../../../schemas/durations.js';
import { deriveId } from '../../../schemas/ids.js';
import type { Event, EventBeacon, EventGeofence, Location, UserState } from '../../../schemas/records.js';
import type { Transition } from '../../evaluation/types.js';
import type { Definition, Definitions } from './definitions.js';
import { beyondLimit, maxEventMetadata, profileWithoutMetadata } from './metadata-limit.js';

/** A transition, with the definition of what was entered or left. */
type Defined = { readonly transition: Transition } & (
  | { readonly geofence: Definition<EventGeofence>; readonly beacon: null }
  | { readonly geofence: null; readonly beacon: Definition<EventBeacon> }
);

/**
 * Builds the events of a location's transitions, without those whose geofence or beacon was deleted meanwhile. `user`
 * is the state after the location.
 */
export function eventsOf(
  location: Location,
  user: UserState,
  transitions: readonly Transition[],
  definitions: Definitions,
): Event[] {
  const defined = transitions.flatMap((transition) => definedBy(location, transition, definitions) ?? []);
  const profileCharacters = user.profile?.length ?? 0;
  const characters = defined.map(({ geofence, beacon }) => profileCharacters + (geofence ?? beacon).metadataCharacters);
  const omitted = beyondLimit(characters, maxEventMetadata);
  const bareUser = omitted.size === 0 ? user : { ...user, profile: profileWithoutMetadata(user.profile) };
  return defined.map((each, index) =>
    omitted.has(index) ? eventOf(location, bareUser, each, true) : eventOf(location, user, each, false),
  );
}

function definedBy(location: Location, transition: Transition, definitions: Definitions): Defined | undefined {
  const { type, id } = transition;
  if (type === 'user.entered_beacon' || type === 'user.exited_beacon') {
    const beacon = definitions.beacon(location, id);
    return beacon && { transition, geofence: null, beacon };
  }
  const geofence = definitions.geofence(location, id);
  return geofence && { transition, geofence, beacon: null };
}

function eventOf(
  location: Location,
  user: UserState,
  { transition, geofence, beacon }: Defined,
  metadataOmitted: boolean,
): Event {
  const { project, environment, deviceId } = location;
  return {
    id: deriveId(project, environment, deviceId, location.id, transition.id, transition.type),
    type: transition.type,
    project,
    environment,
    createdAt: location.occurredAt,
    actualCreatedAt: location.receivedAt,
    locationId: location.id,
    user: { id: user.id, userId: user.userId, deviceId, profile: user.profile },
    geofence: geofence && (metadataOmitted ? geofence.withoutMetadata() : geofence.whole()),
    beacon: beacon && (metadataOmitted ? beacon.withoutMetadata() : beacon.whole()),
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
    metadataOmitted,
  };
}
