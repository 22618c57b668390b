/** A user as SDKs and the API are shown it, from what evaluation remembers and what is configured now. */
import type { Beacon } from '../../schemas/json/beacon.js';
import type { GeofenceRecord, GeofenceSummary } from '../../schemas/json/geofence.js';
import type { User, UserProfile } from '../../schemas/json/user.js';
import type { UserState, Visit } from '../../schemas/records.js';
import { beaconSummary, geofenceSummary } from '../../schemas/wire/geofence.js';
import { userJson } from '../../schemas/wire/user.js';
import type { ConfigurationReader, Scope } from '../catalog/types.js';
import { isOfGeneration } from '../evaluation/geofence-visits.js';

/** What names a device. */
export interface DeviceScope extends Scope {
  readonly deviceId: string;
}

const isListed = ({ enabled, disableAfter, deleteAfter }: GeofenceRecord, atMs: number): boolean =>
  enabled && atMs <= (disableAfter ?? Infinity) && atMs <= (deleteAfter ?? Infinity);

/** Summaries of the geofences that the user is in, by time of entry; without those that were disabled or gone at `atMs`. */
const listedGeofences = (
  visits: readonly Visit[],
  scope: Scope,
  configuration: ConfigurationReader,
  atMs: number,
): GeofenceSummary[] =>
  visits.flatMap((visit) => {
    const record = configuration.storedGeofence(scope, visit.id);
    const isShown = record !== undefined && isOfGeneration(visit, record.createdAt) && isListed(record, atMs);
    return isShown ? [geofenceSummary(record)] : [];
  });

/** Summaries of the beacons in range; without those that are disabled or gone. */
const listedBeacons = (visits: readonly Visit[], scope: Scope, configuration: ConfigurationReader): Beacon[] =>
  visits.flatMap((visit) => {
    const record = configuration.beacon(scope, visit.id);
    return record?.enabled && isOfGeneration(visit, record.createdAt) ? [beaconSummary(record)] : [];
  });

/**
 * The user in wire form; undefined while no location of it has been applied. The time of its last location decides what
 * it is inside of, as it decided its events: so the same locations make the same answer, whenever they are processed.
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
    geofences: listedGeofences(state.geofences, device, configuration, last.occurredAt),
    beacons: listedBeacons(state.beacons, device, configuration),
  });
}
