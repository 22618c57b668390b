/**
 * Writes an event's JSON directly as text. There may be as many events as locations, and `eventJson` with
 * JSON.stringify spends most of its time on temporary objects. A test compares both.
 */
import type { UserProfile } from '../json/user.js';
import type { Event, EventBeacon, EventGeofence, EventUser } from '../records.js';
import { isoTime, quoted, textMember } from './common.js';
import { beaconIdentifiers } from './geofence.js';

/** Returns a member whose value is JSON, or nothing when it is unset. */
const member = (name: string, json: string | number | boolean | null): string =>
  json === null ? '' : `,"${name}":${json}`;

/** Joins members to an object. Each member begins with a comma; the first comma is cut off. */
const object = (members: string): string => `{${members.slice(1)}}`;

const point = (longitude: number, latitude: number): string =>
  `{"type":"Point","coordinates":[${longitude},${latitude}]}`;

/** Returns a member with a position, or nothing when it is unset. */
const pointMember = (name: string, { longitude, latitude }: Pick<Event, 'longitude' | 'latitude'>): string =>
  longitude === null || latitude === null ? '' : `,"${name}":${point(longitude, latitude)}`;

/** Returns a member of a profile, or nothing when it is unset. */
const profileMember = (name: string, value: unknown): string =>
  value === null || value === undefined ? '' : `,"${name}":${JSON.stringify(value)}`;

function profileMembers(profile: string): string {
  const reported = JSON.parse(profile) as UserProfile;
  return (
    profileMember('installId', reported.installId) +
    profileMember('metadata', reported.metadata) +
    profileMember('locationAuthorization', reported.locationAuthorization) +
    profileMember('locationAccuracyAuthorization', reported.locationAccuracyAuthorization)
  );
}

const userText = ({ id, userId, deviceId, profile }: EventUser): string =>
  object(
    textMember('_id', id) +
      textMember('userId', userId) +
      textMember('deviceId', deviceId) +
      (profile === null ? '' : profileMembers(profile)),
  );

const geofenceText = (geofence: EventGeofence): string =>
  `{"_id":"${geofence.id}"${textMember('tag', geofence.tag)}${textMember('externalId', geofence.externalId)}` +
  `,"description":${quoted(geofence.description)},"type":"${geofence.type}"${member('metadata', geofence.metadata)}` +
  `,"geometryCenter":${point(geofence.centerLongitude, geofence.centerLatitude)},"geometryRadius":${geofence.radius}}`;

const beaconText = (beacon: EventBeacon): string =>
  object(
    Object.entries({ _id: beacon.id, description: beacon.description, type: beacon.type, ...beaconIdentifiers(beacon) })
      .map(([name, value]) => textMember(name, value))
      .join('') +
      textMember('tag', beacon.tag) +
      textMember('externalId', beacon.externalId) +
      member('metadata', beacon.metadata) +
      pointMember('geometry', beacon) +
      // A disabled beacon makes no events.
      member('enabled', true),
  );

/** Returns JSON text that parses to `eventJson(event)`. */
export function eventText(event: Event): string {
  const { user, geofence, beacon } = event;
  return (
    `{"_id":"${event.id}","type":${quoted(event.type)},"createdAt":"${isoTime(event.createdAt)}"` +
    `,"actualCreatedAt":"${isoTime(event.actualCreatedAt)}","live":${event.environment === 'live'}` +
    member('user', user && userText(user)) +
    member('geofence', geofence && geofenceText(geofence)) +
    member('beacon', beacon && beaconText(beacon)) +
    pointMember('location', event) +
    `,"confidence":${event.confidence},"replayed":${event.replayed}` +
    member('locationAccuracy', event.accuracy_m) +
    member('duration', event.duration_min) +
    member('currentlyOperating', event.currentlyOperating) +
    member('foreground', event.foreground) +
    member('stopped', event.stopped) +
    textMember('source', event.source) +
    member('metadata', event.metadata) +
    member('metadataOmitted', event.metadataOmitted || null) +
    '}'
  );
}
