/** Builds a user's JSON for SDKs, the API and webhooks from its state and the current configuration. */
import type { Beacon } from '../../schemas/json/beacon.js';
import { type GeofenceSummary, isMonitoredFor } from '../../schemas/json/geofence.js';
import type { User, UserProfile } from '../../schemas/json/user.js';
import type { UserState, Visit } from '../../schemas/records.js';
import { beaconSummary, geofenceSummary } from '../../schemas/wire/geofence.js';
import { userJson } from '../../schemas/wire/user.js';
import type { ConfigurationReader, Scope } from '../catalog/types.js';
import { isOfGeneration } from '../evaluation/geofence-visits.js';

/** Identifies a device. */
export interface DeviceScope extends Scope {
  readonly deviceId: string;
}

/** Returns summaries of the visited geofences by time of entry, without those that made no events for the location. */
const listedGeofences = (
  { geofences, userId }: UserState,
  scope: Scope,
  configuration: ConfigurationReader,
  atMs: number,
): GeofenceSummary[] =>
  geofences.flatMap((visit) => {
    const record = configuration.storedGeofenceHead(scope, visit.id);
    if (record === undefined || !isOfGeneration(visit, record.createdAt)) return [];
    return isMonitoredFor(record, userId, atMs) ? [geofenceSummary(record)] : [];
  });

/** Returns summaries of the beacons in range, without disabled and deleted ones. */
const listedBeacons = (visits: readonly Visit[], scope: Scope, configuration: ConfigurationReader): Beacon[] =>
  visits.flatMap((visit) => {
    const record = configuration.beacon(scope, visit.id);
    return record?.enabled && isOfGeneration(visit, record.createdAt) ? [beaconSummary(record)] : [];
  });

/**
 * Returns a user's JSON, or undefined before its first applied location. Geofences are listed as of the time of the
 * last location, as for its events, so that the result does not depend on the time of processing.
 */
export function userOf(state: UserState, device: DeviceScope, configuration: ConfigurationReader): User | undefined {
  const { last } = state;
  if (last === null) return undefined;
  return userJson({
    id: state.id,
    environment: device.environment,
    deviceId: device.deviceId,
    userId: state.userId,
    createdAt: state.createdAt,
    profile: state.profile === null ? {} : (JSON.parse(state.profile) as UserProfile),
    last,
    geofences: listedGeofences(state, device, configuration, last.occurredAt),
    beacons: listedBeacons(state.beacons, device, configuration),
  });
}
