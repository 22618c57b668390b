/** Manages the user records of a device: one per user, and an anonymous one until a user is named. */
import { deriveId } from '../../schemas/ids.js';
import type { UserProfile } from '../../schemas/json/user.js';
import type { Location, LocationDetails, UserState } from '../../schemas/records.js';
import { textMember } from '../../schemas/wire/common.js';

/** A device with more users forgets the least recently used record. */
const maxUsersPerDevice = 16;

/**
 * Returns the user record of a location. The first user that a device names takes over its anonymous record, with all
 * visits. Any other user without a record gets a new one.
 */
export function resolveUser(location: Location, users: readonly UserState[]): UserState {
  const latest = users[0];
  if (latest?.userId === location.userId) return latest;
  const known = users.find((user) => user.userId === location.userId);
  if (known !== undefined) return known;
  if (latest !== undefined && users.length === 1 && latest.userId === null)
    return { ...latest, userId: location.userId };
  return freshUser(location);
}

/**
 * Returns the record to report for a location that changes nothing: the record of its user, or else of the device's
 * latest user. Unlike {@link resolveUser} it never returns a new record, because no state would contain it.
 */
export const existingUser = ({ userId }: Location, users: readonly UserState[]): UserState | undefined =>
  users.find((user) => user.userId === userId) ?? users[0];

/**
 * Creates a record. Its id is derived from the location, so that applying the location again creates the same record.
 */
function freshUser({ id, project, environment, deviceId, userId, receivedAt }: Location): UserState {
  return {
    id: deriveId('user', project, environment, deviceId, userId ?? '', id),
    userId,
    createdAt: receivedAt,
    profile: null,
    last: null,
    geofences: [],
    beacons: [],
  };
}

/** Returns the records with the latest first, in order of last use. */
export function usersAfter(users: readonly UserState[], latest: UserState): UserState[] {
  const after = [latest];
  for (const user of users) {
    if (user.id !== latest.id && after.length < maxUsersPerDevice) after.push(user);
  }
  return after;
}

/** Merges the profile (JSON of a UserProfile) with the fields that the device reports now. */
export function profileAfter(profile: string | null, details: LocationDetails | null): string | null {
  if (details === null || (profile !== null && profile === reportedText(details))) return profile;
  const merged = JSON.stringify({
    ...inOrder,
    ...(profile === null ? {} : (JSON.parse(profile) as UserProfile)),
    ...reportedProfile(details),
  });
  return merged === '{}' ? null : merged;
}

/** Gives a field that a device reports later than others its place, so that {@link reportedText} is equal again. */
const inOrder: { readonly [name in keyof UserProfile]-?: undefined } = {
  installId: undefined,
  description: undefined,
  metadata: undefined,
  deviceType: undefined,
  deviceMake: undefined,
  deviceModel: undefined,
  deviceOS: undefined,
  sdkVersion: undefined,
  locationAuthorization: undefined,
  locationAccuracyAuthorization: undefined,
};

/**
 * Returns the reported fields as JSON, with the metadata as the device wrote it. A device mostly repeats itself: a
 * stored profile that equals this text is the result of merging both, and neither needs to be parsed.
 */
function reportedText(details: LocationDetails): string {
  const { metadata } = details;
  const members =
    textMember('installId', details.installId) +
    textMember('description', details.description) +
    (metadata === null ? '' : `,"metadata":${metadata}`) +
    textMember('deviceType', details.deviceType) +
    textMember('deviceMake', details.deviceMake) +
    textMember('deviceModel', details.deviceModel) +
    textMember('deviceOS', details.deviceOS) +
    textMember('sdkVersion', details.sdkVersion) +
    textMember('locationAuthorization', details.locationAuthorization) +
    textMember('locationAccuracyAuthorization', details.locationAccuracyAuthorization);
  return `{${members.slice(1)}}`;
}

/** Returns the fields that the device reported. */
function reportedProfile(details: LocationDetails): UserProfile {
  const profile: UserProfile = {};
  if (details.installId !== null) profile.installId = details.installId;
  if (details.description !== null) profile.description = details.description;
  if (details.metadata !== null)
    profile.metadata = JSON.parse(details.metadata) as NonNullable<UserProfile['metadata']>;
  if (details.deviceType !== null) profile.deviceType = details.deviceType;
  if (details.deviceMake !== null) profile.deviceMake = details.deviceMake;
  if (details.deviceModel !== null) profile.deviceModel = details.deviceModel;
  if (details.deviceOS !== null) profile.deviceOS = details.deviceOS;
  if (details.sdkVersion !== null) profile.sdkVersion = details.sdkVersion;
  if (details.locationAuthorization !== null) profile.locationAuthorization = details.locationAuthorization;
  if (details.locationAccuracyAuthorization !== null) {
    profile.locationAccuracyAuthorization = details.locationAccuracyAuthorization;
  }
  return profile;
}
