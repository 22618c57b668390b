/** From Avro records to rows of the ClickHouse tables in `schemas/clickhouse`. Pure. Times are epoch milliseconds, as DateTime64(3) takes them. */
import type { UserProfile } from '../../../schemas/json/user.js';
import type { Event, Outcome } from '../../../schemas/records.js';
import { eventJson, type UserParts } from '../../../schemas/wire/user.js';

/** A row of table `locations`. */
export const locationRow = ({ location, result, user, geofences, events }: Outcome) => ({
  project: location.project,
  environment: location.environment,
  id: location.id,
  device_id: location.deviceId,
  user,
  user_id: location.userId ?? '',
  occurred_at: location.occurredAt,
  received_at: location.receivedAt,
  latitude: location.latitude,
  longitude: location.longitude,
  accuracy_m: location.accuracy_m,
  foreground: location.foreground,
  stopped: location.stopped,
  replayed: location.replayed,
  source: location.source ?? '',
  ip: location.ip ?? '',
  result,
  geofences,
  events,
});

/** A row of table `events`. */
export function eventRow(event: Event) {
  const subject = event.geofence ?? event.beacon;
  return {
    project: event.project,
    environment: event.environment,
    id: event.id,
    type: event.type,
    created_at: event.createdAt,
    actual_created_at: event.actualCreatedAt,
    location_id: event.locationId ?? '',
    device_id: event.user?.deviceId ?? '',
    user: event.user?.id ?? '',
    user_id: event.user?.userId ?? '',
    geofence: event.geofence?.id ?? '',
    beacon: event.beacon?.id ?? '',
    tag: subject?.tag ?? '',
    external_id: subject?.externalId ?? '',
    confidence: event.confidence,
    duration_min: event.duration_min,
    latitude: event.latitude,
    longitude: event.longitude,
    accuracy_m: event.accuracy_m,
    currently_operating: event.currentlyOperating,
    replayed: event.replayed,
    body: JSON.stringify(eventJson(event)),
  };
}

/** A user's parts without what the configuration decides; that is added when the user is read. */
type UserBody = Omit<UserParts, 'geofences' | 'beacons'>;

function userBody({ location, user, userCreatedAt, profile }: Outcome): UserBody {
  const { occurredAt, receivedAt, latitude, longitude, accuracy_m, foreground, stopped, ip, source } = location;
  return {
    id: user,
    environment: location.environment,
    deviceId: location.deviceId,
    userId: location.userId,
    createdAt: userCreatedAt,
    profile: profile === null ? {} : (JSON.parse(profile) as UserProfile),
    last: { occurredAt, receivedAt, latitude, longitude, accuracy_m, foreground, stopped, ip, source },
  };
}

/** A row of table `users`: the user as an applied outcome left it. */
export const userRow = (outcome: Outcome) => ({
  project: outcome.location.project,
  environment: outcome.location.environment,
  user: outcome.user,
  device_id: outcome.location.deviceId,
  user_id: outcome.location.userId ?? '',
  created_at: outcome.userCreatedAt,
  updated_at: outcome.location.occurredAt,
  actual_updated_at: outcome.location.receivedAt,
  geofences: outcome.geofences,
  beacons: outcome.beacons,
  body: JSON.stringify(userBody(outcome)),
});
