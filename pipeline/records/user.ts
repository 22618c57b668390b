/** Builds a user's JSON for SDKs, the API and webhooks from its state and the current configuration. */
import { isMonitoredFor } from '../../schemas/json/geofence.js';
import type { User, UserProfile } from '../../schemas/json/user.js';
import type { UserState, Visit } from '../../schemas/records.js';
import { createTurns, runAtOnce, runInTurns, type Steps } from '../../schemas/turns.js';
import { userJson } from '../../schemas/wire/user.js';
import { summariesOf } from '../catalog/queries/summaries.js';
import type { ConfigurationReader, Scope } from '../catalog/types.js';
import { isOfGeneration } from '../evaluation/geofence-visits.js';

/** Identifies a device. */
export interface DeviceScope extends Scope {
  readonly deviceId: string;
}

/** Each record may have 64 kB of metadata. */
const recordsPerTurn = 16;
const nextTurn = createTurns();

/**
 * Returns a user's JSON, or undefined before its first applied location. Geofences are listed by time of entry, as of
 * the time of the last location, as for its events, so that the result does not depend on the time of processing. Those
 * that make no events for it, and disabled and deleted beacons, are left out.
 */
export const userOf = (state: UserState, device: DeviceScope, configuration: ConfigurationReader): User | undefined =>
  runAtOnce(userSteps(state, device, configuration));

/** Does the same in turns of the event loop: a user may be inside a thousand geofences. */
export const userInTurns = (
  state: UserState,
  device: DeviceScope,
  configuration: ConfigurationReader,
): Promise<User | undefined> => runInTurns(userSteps(state, device, configuration), nextTurn, recordsPerTurn);

function* userSteps(
  state: UserState,
  device: DeviceScope,
  configuration: ConfigurationReader,
): Steps<User | undefined> {
  const { last } = state;
  if (last === null) return undefined;
  const summaries = summariesOf(configuration);
  const { geofences, beacons } = state;
  return userJson({
    id: state.id,
    environment: device.environment,
    deviceId: device.deviceId,
    userId: state.userId,
    createdAt: state.createdAt,
    profile: state.profile === null ? {} : (JSON.parse(state.profile) as UserProfile),
    last,
    geofences: yield* summaries.geofences(
      device,
      idsOf(geofences),
      (geofence, index) =>
        isOfGeneration(geofences[index]!, geofence.createdAt) &&
        isMonitoredFor(geofence, state.userId, last.occurredAt),
    ),
    beacons: yield* summaries.beacons(
      device,
      idsOf(beacons),
      ({ enabled, createdAt }, index) => enabled && isOfGeneration(beacons[index]!, createdAt),
    ),
  });
}

const idsOf = (visits: readonly Visit[]): string[] => visits.map(({ id }) => id);
