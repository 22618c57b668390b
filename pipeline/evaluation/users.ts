/** The user records of a device: one per user, and one for the device while it names nobody. */
import { deriveId } from '../../schemas/ids.js';
import type { UserProfile } from '../../schemas/json/user.js';
import type { Location, LocationDetails, UserState } from '../../schemas/records.js';

/** A device that is handed round more users than this forgets the one that used it longest ago. */
export const maxUsersPerDevice = 16;

/**
 * The record that a location is about. A device that names a user for the first time gives its anonymous record to that
 * user, with all it was inside of; any other user without a record starts afresh.
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
 * Returns the record that a location is told to be about when it changes nothing: its user's where the device has one,
 * else that of the device's latest user. A record that {@link resolveUser} would make is never told of, because no
 * state comes to hold it.
 */
export const heldUser = ({ userId }: Location, users: readonly UserState[]): UserState | undefined =>
  users.find((user) => user.userId === userId) ?? users[0];

/** Derived from the location that made it, so that applying it again makes the same record. */
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

/** Most recently used first. */
export function usersAfter(users: readonly UserState[], latest: UserState): UserState[] {
  const after = [latest];
  for (const user of users) {
    if (user.id !== latest.id && after.length < maxUsersPerDevice) after.push(user);
  }
  return after;
}

/** JSON of a UserProfile: what is known, overlaid with what the device says now. */
export function profileAfter(profile: string | null, details: LocationDetails | null): string | null {
  if (details === null) return profile;
  const merged = JSON.stringify({
    ...(profile === null ? {} : (JSON.parse(profile) as UserProfile)),
    ...toldProfile(details),
  });
  return merged === '{}' ? null : merged;
}

/** The fields that the device told; unset ones are absent. */
function toldProfile(details: LocationDetails): UserProfile {
  const told: UserProfile = {};
  if (details.installId !== null) told.installId = details.installId;
  if (details.description !== null) told.description = details.description;
  if (details.metadata !== null) told.metadata = JSON.parse(details.metadata) as NonNullable<UserProfile['metadata']>;
  if (details.deviceType !== null) told.deviceType = details.deviceType;
  if (details.deviceMake !== null) told.deviceMake = details.deviceMake;
  if (details.deviceModel !== null) told.deviceModel = details.deviceModel;
  if (details.deviceOS !== null) told.deviceOS = details.deviceOS;
  if (details.sdkVersion !== null) told.sdkVersion = details.sdkVersion;
  if (details.locationAuthorization !== null) told.locationAuthorization = details.locationAuthorization;
  if (details.locationAccuracyAuthorization !== null) {
    told.locationAccuracyAuthorization = details.locationAccuracyAuthorization;
  }
  return told;
}
