/**
 * Makes sample events to test a webhook. They look like real events, have ids of their own, and are marked by `source`
 * and `metadata.test`.
 */
import type { Scope } from '../../pipeline/catalog/types.js';
import { deriveId, freshId } from '../../schemas/ids.js';
import type { Event as EventJson, User } from '../../schemas/json/user.js';
import type { Event, EventBeacon, EventGeofence } from '../../schemas/records.js';
import { eventJson, userJson } from '../../schemas/wire/user.js';

const who = { userId: 'sample-user', deviceId: 'sample-device' };
const inside = { longitude: 11.256, latitude: 43.7731 };
const outside = { longitude: 11.262, latitude: 43.7731 };
const profile = { metadata: { test: true } };
const metadata = JSON.stringify(profile.metadata);

const geofence: EventGeofence = {
  id: deriveId('sample geofence'),
  tag: 'store',
  externalId: 'sample-geofence',
  description: 'Piazza del Duomo',
  type: 'circle',
  metadata,
  centerLongitude: 11.2558,
  centerLatitude: 43.7731,
  radius: 120,
};

const beacon: EventBeacon = {
  id: deriveId('sample beacon'),
  tag: 'store',
  externalId: 'sample-beacon',
  description: 'Front door',
  type: 'ibeacon',
  group: 'b9407f30-f5f8-466e-aff9-25556b57fe6d',
  major: '1',
  minor: '2',
  metadata,
  longitude: 11.2558,
  latitude: 43.7731,
};

interface Sample {
  readonly event: Event;
  /** As of after the event. */
  readonly user: User;
}

/**
 * Returns a sample of an event.
 * @param type the type of the event: one of Fenceline's, or the name of a conversion.
 */
export function sampleOf({ project, environment }: Scope, type: string, nowMs: number): Sample {
  const id = freshId(nowMs);
  const isOver = type.startsWith('user.exited_');
  const hasDuration = isOver || type === 'user.dwelled_in_geofence';
  const location = {
    ...(isOver ? outside : inside),
    accuracy_m: 12,
    foreground: true,
    stopped: !isOver,
    source: 'test',
  };
  const event: Event = {
    id: freshId(nowMs),
    type,
    project,
    environment,
    createdAt: nowMs,
    actualCreatedAt: nowMs,
    locationId: freshId(nowMs),
    user: { id, ...who, profile: JSON.stringify(profile) },
    geofence: type.endsWith('_geofence') ? geofence : null,
    beacon: type.endsWith('_beacon') ? beacon : null,
    ...location,
    confidence: 3,
    duration_min: hasDuration ? 12.5 : null,
    currentlyOperating: null,
    replayed: false,
    metadata,
    metadataOmitted: false,
  };
  const around: Partial<EventJson> = isOver ? {} : eventJson(event);
  const user = userJson({
    id,
    environment,
    ...who,
    createdAt: nowMs,
    profile,
    last: { ...location, occurredAt: nowMs, receivedAt: nowMs, ip: null },
    geofences: around.geofence ? [around.geofence] : [],
    beacons: around.beacon ? [around.beacon] : [],
  });
  return { event, user };
}
