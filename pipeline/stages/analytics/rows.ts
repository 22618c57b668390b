/**
 * From Avro records to rows of the ClickHouse tables in `schemas/clickhouse`. Pure. Times are epoch milliseconds, as DateTime64(3) takes
 * them. Rows of `locations`, by far the most, leave out what is empty or false: the column's default says the same, for a quarter less work.
 */
import type { UserProfile } from '../../../schemas/json/user.js';
import type { Event, Outcome, OutcomeResult } from '../../../schemas/records.js';
import { eventJson, type UserParts } from '../../../schemas/wire/user.js';

/** A row of table `locations`. */
export interface LocationRow {
  readonly project: string;
  readonly environment: string;
  readonly id: string;
  readonly device_id: string;
  readonly user: string;
  user_id?: string;
  readonly occurred_at: number;
  readonly received_at: number;
  readonly latitude: number;
  readonly longitude: number;
  readonly accuracy_m: number;
  foreground?: true;
  stopped?: true;
  replayed?: true;
  source?: string;
  ip?: string;
  readonly result: OutcomeResult;
  geofences?: readonly string[];
  events?: readonly string[];
}

export function locationRow({ location, result, user, geofences, events }: Outcome): LocationRow {
  const row: LocationRow = {
    project: location.project,
    environment: location.environment,
    id: location.id,
    device_id: location.deviceId,
    user,
    occurred_at: location.occurredAt,
    received_at: location.receivedAt,
    latitude: location.latitude,
    longitude: location.longitude,
    accuracy_m: location.accuracy_m,
    result,
  };
  if (location.userId !== null) row.user_id = location.userId;
  if (location.foreground) row.foreground = true;
  if (location.stopped) row.stopped = true;
  if (location.replayed) row.replayed = true;
  if (location.source !== null) row.source = location.source;
  if (location.ip !== null) row.ip = location.ip;
  if (geofences.length > 0) row.geofences = geofences;
  if (events.length > 0) row.events = events;
  return row;
}

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
