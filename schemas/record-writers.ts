/**
 * Writes the records of each location: the location itself, its outcome and events, and the state of its device. Each
 * function writes the fields of one record in the order of its schema in `avro/`. A test compares the bytes with those
 * of the general library.
 */
import { type AvroWriter, writeDouble, writeFlag, writeLong, writeText } from './avro-writer.js';
import type { BeaconType } from './json/beacon.js';
import type { Environment } from './json/common.js';
import type {
  DeviceState,
  Event,
  EventBeacon,
  EventGeofence,
  EventUser,
  LastLocation,
  Location,
  LocationDetails,
  Outcome,
  OutcomeResult,
  RangedBeacon,
  UserState,
  Visit,
} from './records.js';

const environments: readonly Environment[] = ['test', 'live'];
const beaconTypes: readonly BeaconType[] = ['ibeacon', 'eddystone'];
const results: readonly OutcomeResult[] = ['applied', 'repeat', 'stale'];

/** Writes a record of topic `locations`. */
export function writeLocation(writer: AvroWriter, location: Location): void {
  writer.text(location.id);
  writer.text(location.project);
  writer.symbol(environments, location.environment);
  writer.text(location.deviceId);
  writer.optional(location.userId, writeText);
  writer.double(location.latitude);
  writer.double(location.longitude);
  writer.double(location.accuracy_m);
  writer.long(location.occurredAt);
  writer.long(location.receivedAt);
  writer.flag(location.deviceTimed);
  writer.flag(location.foreground);
  writer.flag(location.stopped);
  writer.flag(location.replayed);
  writer.optional(location.beacons, writeRangedBeacons);
  writer.optional(location.ip, writeText);
  writer.optional(location.source, writeText);
  writer.optional(location.replyTo, writeText);
  writer.optional(location.details, writeDetails);
}

function writeRangedBeacons(writer: AvroWriter, beacons: readonly RangedBeacon[]): void {
  writer.list(beacons, writeRangedBeacon);
}

function writeRangedBeacon(writer: AvroWriter, beacon: RangedBeacon): void {
  writer.symbol(beaconTypes, beacon.type);
  writer.text(beacon.group);
  writer.text(beacon.major);
  writer.text(beacon.minor);
  writer.optional(beacon.rssi_dbm, writeLong);
}

function writeDetails(writer: AvroWriter, details: LocationDetails): void {
  writer.optional(details.installId, writeText);
  writer.optional(details.sessionId, writeText);
  writer.optional(details.description, writeText);
  writer.optional(details.metadata, writeText);
  writer.optional(details.deviceType, writeText);
  writer.optional(details.deviceMake, writeText);
  writer.optional(details.deviceModel, writeText);
  writer.optional(details.deviceOS, writeText);
  writer.optional(details.sdkVersion, writeText);
  writer.optional(details.locationAuthorization, writeText);
  writer.optional(details.locationAccuracyAuthorization, writeText);
  writer.optional(details.altitude_m, writeDouble);
  writer.optional(details.speed_mps, writeDouble);
  writer.optional(details.course_deg, writeDouble);
  writer.optional(details.timeZoneOffset_s, writeDouble);
  writer.optional(details.locationMs, writeDouble);
  writer.flag(details.nearbyGeofences);
}

/** The fields of an outcome after its location. */
export type OutcomeTail = Omit<Outcome, 'location'>;

/** Writes what follows the location in a record of topic `outcomes`, so that the location's bytes can be copied. */
export function writeOutcomeTail(writer: AvroWriter, tail: OutcomeTail): void {
  writer.symbol(results, tail.result);
  writer.text(tail.user);
  writer.long(tail.userCreatedAt);
  writer.optional(tail.profile, writeText);
  writer.list(tail.geofences, writeText);
  writer.list(tail.beacons, writeText);
  writer.list(tail.events, writeText);
}

/** Writes a record of topic `events`. */
export function writeEvent(writer: AvroWriter, event: Event): void {
  writer.text(event.id);
  writer.text(event.type);
  writer.text(event.project);
  writer.symbol(environments, event.environment);
  writer.long(event.createdAt);
  writer.long(event.actualCreatedAt);
  writer.optional(event.locationId, writeText);
  writer.optional(event.user, writeEventUser);
  writer.optional(event.geofence, writeEventGeofence);
  writer.optional(event.beacon, writeEventBeacon);
  writer.optional(event.longitude, writeDouble);
  writer.optional(event.latitude, writeDouble);
  writer.optional(event.accuracy_m, writeDouble);
  writer.long(event.confidence);
  writer.optional(event.duration_min, writeDouble);
  writer.optional(event.currentlyOperating, writeFlag);
  writer.optional(event.foreground, writeFlag);
  writer.optional(event.stopped, writeFlag);
  writer.flag(event.replayed);
  writer.optional(event.source, writeText);
  writer.optional(event.metadata, writeText);
  writer.flag(event.metadataOmitted);
}

function writeEventUser(writer: AvroWriter, user: EventUser): void {
  writer.optional(user.id, writeText);
  writer.optional(user.userId, writeText);
  writer.optional(user.deviceId, writeText);
  writer.optional(user.profile, writeText);
}

function writeEventGeofence(writer: AvroWriter, geofence: EventGeofence): void {
  writer.text(geofence.id);
  writer.optional(geofence.tag, writeText);
  writer.optional(geofence.externalId, writeText);
  writer.text(geofence.description);
  writer.text(geofence.type);
  writer.optional(geofence.metadata, writeText);
  writer.double(geofence.centerLongitude);
  writer.double(geofence.centerLatitude);
  writer.double(geofence.radius);
}

function writeEventBeacon(writer: AvroWriter, beacon: EventBeacon): void {
  writer.text(beacon.id);
  writer.optional(beacon.tag, writeText);
  writer.optional(beacon.externalId, writeText);
  writer.text(beacon.description);
  writer.symbol(beaconTypes, beacon.type);
  writer.text(beacon.group);
  writer.text(beacon.major);
  writer.text(beacon.minor);
  writer.optional(beacon.metadata, writeText);
  writer.optional(beacon.longitude, writeDouble);
  writer.optional(beacon.latitude, writeDouble);
}

/** Writes a device state of the newest version of the schema. */
export function writeDeviceState(writer: AvroWriter, state: DeviceState): void {
  writeUsers(writer, state);
  writer.optional(state.locationMs, writeDouble);
}

/** Writes a device state of version 3 of the schema, which ends with the users. */
export function writeUsers(writer: AvroWriter, state: DeviceState): void {
  writer.list(state.users, writeUserState);
}

function writeUserState(writer: AvroWriter, user: UserState): void {
  writer.text(user.id);
  writer.optional(user.userId, writeText);
  writer.long(user.createdAt);
  writer.optional(user.profile, writeText);
  writer.optional(user.last, writeLastLocation);
  writer.list(user.geofences, writeVisit);
  writer.list(user.beacons, writeVisit);
}

function writeLastLocation(writer: AvroWriter, last: LastLocation): void {
  writer.long(last.occurredAt);
  writer.long(last.receivedAt);
  writer.double(last.latitude);
  writer.double(last.longitude);
  writer.double(last.accuracy_m);
  writer.flag(last.deviceTimed);
  writer.flag(last.foreground);
  writer.flag(last.stopped);
  writer.optional(last.beacons, writeText);
  writer.optional(last.ip, writeText);
  writer.optional(last.source, writeText);
}

function writeVisit(writer: AvroWriter, visit: Visit): void {
  writer.text(visit.id);
  writer.long(visit.since);
  writer.flag(visit.dwelled);
  writer.optional(visit.generation, writeLong);
}
