/**
 * Converts Avro records to rows of the ClickHouse tables in `schemas/clickhouse`, as tab-separated text. Pure.
 *
 * Rows are written directly as text, because there are as many as locations. Values that clients choose are escaped;
 * ids, addresses and Fenceline's own names need no escapes.
 */
import type { UserProfile } from './json/user.js';
import type { Attempt, Event, Outcome, Rejection } from './records.js';
import { nullable, nullableTime, text, texts, time } from './tsv.js';
import { eventText } from './wire/event-text.js';
import type { UserParts } from './wire/user.js';

/** Columns of table `locations`, in the order of {@link locationRow}. */
export const locationColumns = [
  ...['project', 'environment', 'id', 'device_id', 'user', 'user_id', 'occurred_at', 'received_at'],
  ...[
    'latitude',
    'longitude',
    'accuracy_m',
    'foreground',
    'stopped',
    'replayed',
    'source',
    'ip',
    'result',
    'geofences',
    'events',
  ],
] as const;

export function locationRow({ location, result, user, geofences, events }: Outcome): string {
  const { project, environment, id, deviceId, userId, occurredAt, receivedAt, source, ip } = location;
  const who = `${project}\t${environment}\t${id}\t${text(deviceId)}\t${user}\t${text(userId ?? '')}`;
  const where = `${location.latitude}\t${location.longitude}\t${location.accuracy_m}`;
  const flags = `${location.foreground}\t${location.stopped}\t${location.replayed}`;
  const effects = `${result}\t${texts(geofences)}\t${texts(events)}`;
  const origin = `${text(source ?? '')}\t${text(ip ?? '')}`;
  return `${who}\t${time(occurredAt)}\t${time(receivedAt)}\t${where}\t${flags}\t${origin}\t${effects}`;
}

/** Columns of table `events`, in the order of {@link eventRow}. */
export const eventColumns = [
  ...[
    'project',
    'environment',
    'id',
    'type',
    'created_at',
    'actual_created_at',
    'location_id',
    'device_id',
    'user',
    'user_id',
  ],
  ...['geofence', 'beacon', 'tag', 'external_id', 'confidence', 'duration_min', 'latitude', 'longitude', 'accuracy_m'],
  ...['currently_operating', 'replayed', 'body'],
] as const;

export function eventRow(event: Event): string {
  const { project, environment, id, user, geofence, beacon, createdAt, actualCreatedAt } = event;
  const subject = geofence ?? beacon;
  const what = `${project}\t${environment}\t${id}\t${text(event.type)}\t${time(createdAt)}\t${time(actualCreatedAt)}`;
  const device = text(user?.deviceId ?? '');
  const who = `${event.locationId ?? ''}\t${device}\t${user?.id ?? ''}\t${text(user?.userId ?? '')}`;
  const pair = `${text(subject?.tag ?? '')}\t${text(subject?.externalId ?? '')}`;
  const about = `${geofence?.id ?? ''}\t${beacon?.id ?? ''}\t${pair}`;
  const measures = `${event.confidence}\t${nullable(event.duration_min)}`;
  const where = `${nullable(event.latitude)}\t${nullable(event.longitude)}\t${nullable(event.accuracy_m)}`;
  const flags = `${nullable(event.currentlyOperating)}\t${event.replayed}`;
  return `${what}\t${who}\t${about}\t${measures}\t${where}\t${flags}\t${text(eventText(event))}`;
}

/** A user without its geofences and beacons, which are added from the configuration when the user is read. */
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

/** Columns of table `users`, in the order of {@link userRow}. */
export const userColumns = [
  ...['project', 'environment', 'user', 'device_id', 'user_id', 'created_at', 'updated_at', 'actual_updated_at'],
  ...['geofences', 'beacons', 'body'],
] as const;

/** Returns the row of the user after an applied outcome. */
export function userRow(outcome: Outcome): string {
  const { project, environment, deviceId, userId, occurredAt, receivedAt } = outcome.location;
  const who = `${project}\t${environment}\t${outcome.user}\t${text(deviceId)}\t${text(userId ?? '')}`;
  const when = `${time(outcome.userCreatedAt)}\t${time(occurredAt)}\t${time(receivedAt)}`;
  const body = text(JSON.stringify(userBody(outcome)));
  return `${who}\t${when}\t${texts(outcome.geofences)}\t${texts(outcome.beacons)}\t${body}`;
}

/** Columns of table `webhook_attempts`, in the order of {@link attemptRow}. */
export const attemptColumns = [
  ...['project', 'environment', 'webhook', 'id', 'delivery', 'events', 'attempt', 'reason', 'at', 'duration_ms', 'url'],
  ...['result', 'message', 'state', 'next_attempt_at', 'status', 'response_headers', 'response_body', 'request_body'],
] as const;

/** Returns the row of an attempt. Bytes of the response body that are not UTF-8 are replaced. */
export function attemptRow(attempt: Attempt): string {
  const { id, delivery, at, nextAttemptAt, status, responseHeaders, responseBody } = attempt;
  const { project, environment, webhook, events, reason } = delivery;
  const what = `${project}\t${environment}\t${webhook}\t${id}\t${text(delivery.id)}\t${texts(events)}`;
  const how = `${attempt.attempt}\t${reason}\t${time(at)}\t${attempt.duration_ms}\t${text(attempt.url)}`;
  const outcome = `${attempt.result}\t${text(attempt.message ?? '')}\t${attempt.state}\t${nullableTime(nextAttemptAt)}`;
  const response = `${nullable(status)}\t${text(responseHeaders ?? '')}\t${text(responseBody?.toString('utf8') ?? '')}`;
  return `${what}\t${how}\t${outcome}\t${response}\t${text(delivery.body.toString('utf8'))}`;
}

/** Columns of table `rejections`, in the order of {@link rejectionRow}. */
export const rejectionColumns = ['project', 'environment', 'id', 'at', 'endpoint', 'code', 'param', 'count'] as const;

export function rejectionRow({ project, environment, id, at, endpoint, code, param, count }: Rejection): string {
  const what = `${text(endpoint)}\t${text(code)}\t${text(param ?? '')}\t${count}`;
  return `${project}\t${environment}\t${id}\t${time(at)}\t${what}`;
}
