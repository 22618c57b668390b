/**
 * A user as far as it is known without waiting: the stored state, or, for a device never seen, what the request itself
 * says.
 */

import type { ConfigurationReader } from '../pipeline/catalog/types.js';
import { isPortError } from '../pipeline/errors.js';
import { existingUser, profileAfter, resolveUser, usersAfter } from '../pipeline/evaluation/users.js';
import { type Log, type StateStore, topics } from '../pipeline/ports.js';
import { deviceKey } from '../pipeline/records/device-key.js';
import { decodeDeviceState } from '../pipeline/records/device-state.js';
import { userOf } from '../pipeline/records/user.js';
import type { User } from '../schemas/json/user.js';
import type { DeviceState, Location, UserState } from '../schemas/records.js';

export interface LastKnownSources {
  readonly log: Pick<Log, 'partitionOf'>;
  readonly states: Pick<StateStore, 'load'>;
  readonly configuration: ConfigurationReader;
}

/** The stored state of a device, for questions; evaluation reads its own. Undefined for a device never seen. */
export async function storedState(
  device: Pick<Location, 'project' | 'environment' | 'deviceId'>,
  { log, states }: Pick<LastKnownSources, 'log' | 'states'>,
): Promise<DeviceState | undefined> {
  const key = deviceKey(device);
  const [value] = await states.load(log.partitionOf(topics.locations, key), [key]);
  return value && decodeDeviceState(value);
}

/**
 * Returns the user that the last of some locations is about, as of before they were applied; while states are out of
 * reach, as the location itself tells it. Of a user without a record it names the one that these locations make, if no
 * others come before them.
 */
export async function lastKnownUser(locations: readonly Location[], sources: LastKnownSources): Promise<User> {
  const location = locations.at(-1)!;
  const state = await storedState(location, sources).catch(nothingInAnOutage);
  const ofTheDevice = locations.filter(({ deviceId }) => deviceId === location.deviceId);
  const user = userAfter(ofTheDevice, state?.users ?? []);
  const known = {
    ...user,
    profile: user.profile ?? profileAfter(null, location.details),
    last: user.last ?? { ...location, beacons: null },
  };
  return userOf(known, location, sources.configuration)!;
}

/** A location that is late already makes no record, and the first that is not makes it for those after it. */
function userAfter(locations: readonly Location[], stored: readonly UserState[]): UserState {
  const last = locations.at(-1)!;
  const latestMs = stored[0]?.last?.occurredAt ?? Number.NEGATIVE_INFINITY;
  let users = stored;
  for (const location of locations) {
    if (location.deviceTimed && location.occurredAt < latestMs) continue;
    users = usersAfter(users, resolveUser(location, users));
  }
  return existingUser(last, users)!;
}

function nothingInAnOutage(error: unknown): undefined {
  if (!isPortError(error, 'unavailable')) throw error;
}
