/**
 * Converts Avro records to rows of the ClickHouse tables in `schemas/clickhouse`. Pure.
 */
import type { UserProfile } from './json/user.js';
import {
  DoubleColumn,
  FlagColumn,
  IntegerColumn,
  NullableColumn,
  Rows,
  TextColumn,
  TextsColumn,
  TimeColumn,
} from './native.js';
import type { OutcomeFrame, Span } from './outcome-frame.js';
import type { Attempt, Event, Outcome, Rejection } from './records.js';
import { eventText } from './wire/event-text.js';
import type { UserParts } from './wire/user.js';

const nullableDouble = () => new NullableColumn(new DoubleColumn(), 0);

/** Rows of table `locations`. Nearly all are bytes of the outcome, because there are so many. */
export const newLocationRows = () =>
  new Rows({
    project: new TextColumn(),
    environment: new TextColumn(),
    id: new TextColumn(),
    device_id: new TextColumn(),
    user: new TextColumn(),
    user_id: new TextColumn(),
    occurred_at: new TimeColumn(),
    received_at: new TimeColumn(),
    latitude: new DoubleColumn(),
    longitude: new DoubleColumn(),
    accuracy_m: new DoubleColumn(),
    foreground: new FlagColumn(),
    stopped: new FlagColumn(),
    replayed: new FlagColumn(),
    source: new TextColumn(),
    ip: new TextColumn(),
    result: new TextColumn(),
    geofences: new TextsColumn(),
    events: new TextsColumn(),
  });

/** Adds the row of an outcome. Texts and numbers are copied from the frame, without decoding the record. */
export function addLocation(rows: ReturnType<typeof newLocationRows>, outcome: OutcomeFrame): void {
  const { columns } = rows;
  const { bytes } = outcome;
  const addText = (column: TextColumn, { start, end }: Span): void => column.addBytes(bytes, start, end);
  addText(columns.project, outcome.project);
  columns.environment.add(outcome.isLive ? 'live' : 'test');
  addText(columns.id, outcome.id);
  addText(columns.device_id, outcome.deviceId);
  addText(columns.user, outcome.user);
  addText(columns.user_id, outcome.userId);
  columns.occurred_at.add(outcome.occurredAt);
  columns.received_at.add(outcome.receivedAt);
  columns.latitude.addBytes(bytes, outcome.latitude);
  columns.longitude.addBytes(bytes, outcome.longitude);
  columns.accuracy_m.addBytes(bytes, outcome.accuracyM);
  columns.foreground.add(outcome.foreground);
  columns.stopped.add(outcome.stopped);
  columns.replayed.add(outcome.replayed);
  addText(columns.source, outcome.source);
  addText(columns.ip, outcome.ip);
  columns.result.add(outcome.result);
  const { geofences, events } = columns;
  geofences.endList(outcome.eachGeofence((start, end) => geofences.addText(bytes, start, end)));
  events.endList(outcome.eachEvent((start, end) => events.addText(bytes, start, end)));
  rows.endRow();
}

/** Rows of table `events`. */
export const newEventRows = () =>
  new Rows({
    project: new TextColumn(),
    environment: new TextColumn(),
    id: new TextColumn(),
    type: new TextColumn(),
    created_at: new TimeColumn(),
    actual_created_at: new TimeColumn(),
    location_id: new TextColumn(),
    device_id: new TextColumn(),
    user: new TextColumn(),
    user_id: new TextColumn(),
    geofence: new TextColumn(),
    beacon: new TextColumn(),
    tag: new TextColumn(),
    external_id: new TextColumn(),
    confidence: new IntegerColumn(1),
    duration_min: nullableDouble(),
    latitude: nullableDouble(),
    longitude: nullableDouble(),
    accuracy_m: nullableDouble(),
    currently_operating: new NullableColumn(new FlagColumn(), false),
    replayed: new FlagColumn(),
    body: new TextColumn(),
  });

/** Adds the row of an event. If it throws, the rows are unchanged. */
export function addEvent(rows: ReturnType<typeof newEventRows>, event: Event): void {
  const { columns } = rows;
  const { user, geofence, beacon } = event;
  const subject = geofence ?? beacon;
  // Before any column has a value of the row: this may throw.
  const body = eventText(event);
  columns.project.add(event.project);
  columns.environment.add(event.environment);
  columns.id.add(event.id);
  columns.type.add(event.type);
  columns.created_at.add(event.createdAt);
  columns.actual_created_at.add(event.actualCreatedAt);
  columns.location_id.add(event.locationId ?? '');
  columns.device_id.add(user?.deviceId ?? '');
  columns.user.add(user?.id ?? '');
  columns.user_id.add(user?.userId ?? '');
  columns.geofence.add(geofence?.id ?? '');
  columns.beacon.add(beacon?.id ?? '');
  columns.tag.add(subject?.tag ?? '');
  columns.external_id.add(subject?.externalId ?? '');
  columns.confidence.add(event.confidence);
  columns.duration_min.add(event.duration_min);
  columns.latitude.add(event.latitude);
  columns.longitude.add(event.longitude);
  columns.accuracy_m.add(event.accuracy_m);
  columns.currently_operating.add(event.currentlyOperating);
  columns.replayed.add(event.replayed);
  columns.body.add(body);
  rows.endRow();
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

/** Rows of table `users`. */
export const newUserRows = () =>
  new Rows({
    project: new TextColumn(),
    environment: new TextColumn(),
    user: new TextColumn(),
    device_id: new TextColumn(),
    user_id: new TextColumn(),
    created_at: new TimeColumn(),
    updated_at: new TimeColumn(),
    actual_updated_at: new TimeColumn(),
    geofences: new TextsColumn(),
    beacons: new TextsColumn(),
    body: new TextColumn(),
  });

/** Adds the user after an applied outcome. */
export function addUser(rows: ReturnType<typeof newUserRows>, outcome: Outcome): void {
  const { columns } = rows;
  const { location } = outcome;
  // Before any column has a value of the row: this may throw.
  const body = JSON.stringify(userBody(outcome));
  columns.project.add(location.project);
  columns.environment.add(location.environment);
  columns.user.add(outcome.user);
  columns.device_id.add(location.deviceId);
  columns.user_id.add(location.userId ?? '');
  columns.created_at.add(outcome.userCreatedAt);
  columns.updated_at.add(location.occurredAt);
  columns.actual_updated_at.add(location.receivedAt);
  columns.geofences.add(outcome.geofences);
  columns.beacons.add(outcome.beacons);
  columns.body.add(body);
  rows.endRow();
}

/** Rows of table `webhook_attempts`. */
export const newAttemptRows = () =>
  new Rows({
    project: new TextColumn(),
    environment: new TextColumn(),
    webhook: new TextColumn(),
    id: new TextColumn(),
    delivery: new TextColumn(),
    events: new TextsColumn(),
    attempt: new IntegerColumn(2),
    reason: new TextColumn(),
    at: new TimeColumn(),
    duration_ms: new DoubleColumn(),
    url: new TextColumn(),
    result: new TextColumn(),
    message: new TextColumn(),
    state: new TextColumn(),
    next_attempt_at: new NullableColumn(new TimeColumn(), 0),
    status: new NullableColumn(new IntegerColumn(2), 0),
    response_headers: new TextColumn(),
    response_body: new TextColumn(),
    request_body: new TextColumn(),
  });

/** Adds an attempt. Bytes of the response body that are not UTF-8 are replaced. */
export function addAttempt(rows: ReturnType<typeof newAttemptRows>, attempt: Attempt): void {
  const { columns } = rows;
  const { delivery } = attempt;
  columns.project.add(delivery.project);
  columns.environment.add(delivery.environment);
  columns.webhook.add(delivery.webhook);
  columns.id.add(attempt.id);
  columns.delivery.add(delivery.id);
  columns.events.add(delivery.events);
  columns.attempt.add(attempt.attempt);
  columns.reason.add(delivery.reason);
  columns.at.add(attempt.at);
  columns.duration_ms.add(attempt.duration_ms);
  columns.url.add(attempt.url);
  columns.result.add(attempt.result);
  columns.message.add(attempt.message ?? '');
  columns.state.add(attempt.state);
  columns.next_attempt_at.add(attempt.nextAttemptAt);
  columns.status.add(attempt.status);
  columns.response_headers.add(attempt.responseHeaders ?? '');
  columns.response_body.add(attempt.responseBody?.toString('utf8') ?? '');
  columns.request_body.add(delivery.body.toString('utf8'));
  rows.endRow();
}

/** Rows of table `rejections`. */
export const newRejectionRows = () =>
  new Rows({
    project: new TextColumn(),
    environment: new TextColumn(),
    id: new TextColumn(),
    at: new TimeColumn(),
    endpoint: new TextColumn(),
    code: new TextColumn(),
    param: new TextColumn(),
    count: new IntegerColumn(4),
  });

/** Rows of table `rejections` that wait for their insert. */
export type RejectionRows = ReturnType<typeof newRejectionRows>;

/** Adds what is a rejection, or what happened to a location after it was accepted. */
export function addRejection(
  rows: RejectionRows,
  rejection: Omit<Rejection, 'environment'> & { readonly environment: string },
): void {
  const { columns } = rows;
  columns.project.add(rejection.project);
  columns.environment.add(rejection.environment);
  columns.id.add(rejection.id);
  columns.at.add(rejection.at);
  columns.endpoint.add(rejection.endpoint);
  columns.code.add(rejection.code);
  columns.param.add(rejection.param ?? '');
  columns.count.add(rejection.count);
  rows.endRow();
}
