/** A user as SDKs and the API are shown it, from what evaluation remembers and what is configured now. */
import type { Beacon } from '../../../schemas/json/beacon.js';
import type { GeofenceRecord, GeofenceSummary } from '../../../schemas/json/geofence.js';
import type { User, UserProfile } from '../../../schemas/json/user.js';
import type { Stay, UserState } from '../../../schemas/records.js';
import { beaconSummary, geofenceSummary } from '../../../schemas/wire/geofence.js';
import { userJson } from '../../../schemas/wire/user.js';
import type { ConfigurationReader, Scope } from '../../catalog/types.js';

/** What names a device. */
export interface DeviceScope extends Scope {
  readonly deviceId: string;
}

const isListed = (geofence: GeofenceRecord, nowMs: number): boolean =>
  geofence.enabled && (geofence.disableAfter === null || nowMs <= geofence.disableAfter);

/** Summaries of the geofences stayed in, by time of entry; without those that are disabled or gone. */
export const listedGeofences = (
  stays: readonly Pick<Stay, 'id'>[],
  scope: Scope,
  configuration: ConfigurationReader,
  nowMs: number,
): GeofenceSummary[] =>
  stays.flatMap(({ id }) => {
    const record = configuration.geofence(scope, id);
    return record !== undefined && isListed(record, nowMs) ? [geofenceSummary(record)] : [];
  });

/** Summaries of the beacons in range; without those that are disabled or gone. */
export const listedBeacons = (stays: readonly Pick<Stay, 'id'>[], scope: Scope, configuration: ConfigurationReader): Beacon[] =>
  stays.flatMap(({ id }) => {
    const record = configuration.beacon(scope, id);
    return record?.enabled ? [beaconSummary(record)] : [];
  });

/** The user in wire form; undefined while no location of it has been applied. `nowMs` decides what has expired. */
export function userOf(
  state: UserState,
  device: DeviceScope,
  configuration: ConfigurationReader,
  nowMs: number,
): User | undefined {
  if (state.last === null) return undefined;
  return userJson({
    id: state.id,
    environment: device.environment,
    deviceId: device.deviceId,
    userId: state.userId,
    createdAt: state.createdAt,
    profile: state.profile === null ? {} : (JSON.parse(state.profile) as UserProfile),
    last: state.last,
    geofences: listedGeofences(state.geofences, device, configuration, nowMs),
    beacons: listedBeacons(state.beacons, device, configuration),
  });
}
