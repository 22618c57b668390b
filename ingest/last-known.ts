/**
 * Returns a user as it is known without waiting: from the stored state, or, for a device that was never seen, from the
 * request itself.
 */
import type { ConfigurationReader } from '../pipeline/catalog/types.js';
import { isPortError } from '../pipeline/errors.js';
import { admit, stateAfter } from '../pipeline/evaluation/admission.js';
import { existingUser, profileAfter } from '../pipeline/evaluation/users.js';
import { type Log, type StateStore, topics } from '../pipeline/ports.js';
import { deviceKey } from '../pipeline/records/device-key.js';
import { decodeDeviceState } from '../pipeline/records/device-state.js';
import { userInTurns } from '../pipeline/records/user.js';
import type { User } from '../schemas/json/user.js';
import type { DeviceState, Location, UserState } from '../schemas/records.js';

interface LastKnownSources {
  readonly log: Pick<Log, 'partitionOf'>;
  readonly states: Pick<StateStore, 'load'>;
  readonly configuration: ConfigurationReader;
}

/**
 * Returns the stored state of a device for reads; evaluation loads its own. Undefined for a device that was never seen.
 */
export async function storedState(
  device: Pick<Location, 'project' | 'environment' | 'deviceId'>,
  { log, states }: Pick<LastKnownSources, 'log' | 'states'>,
): Promise<DeviceState | undefined> {
  const key = deviceKey(device);
  const [value] = await states.load(log.partitionOf(topics.locations, key), [key]);
  return value && decodeDeviceState(value);
}

/**
 * Returns the user of the last location as of before the locations are applied. While the state store is unavailable,
 * it returns the user as the location describes it. For a user without a record it returns the record that these
 * locations will create, if no others precede them.
 */
export async function lastKnownUser(locations: readonly Location[], sources: LastKnownSources): Promise<User> {
  const location = locations.at(-1)!;
  const state = await storedState(location, sources).catch(nothingInAnOutage);
  const ofTheDevice = locations.filter(({ deviceId }) => deviceId === location.deviceId);
  return shown(userAfter(ofTheDevice, state), location, sources);
}

/**
 * Returns the user of a location that is dropped: no record is made for it. Only a device that was never seen has none,
 * and its user is as the location describes it.
 */
export async function userOfDropped(location: Location, sources: LastKnownSources): Promise<User> {
  const state = await storedState(location, sources).catch(nothingInAnOutage);
  const user = existingUser(location, state?.users ?? []) ?? userAfter([location], undefined);
  return shown(user, location, sources);
}

/** Returns a user's JSON. What its record lacks is as the location describes it. */
async function shown(user: UserState, location: Location, { configuration }: LastKnownSources): Promise<User> {
  const known = {
    ...user,
    profile: user.profile ?? profileAfter(null, location.details),
    last: user.last ?? { ...location, beacons: null },
  };
  return (await userInTurns(known, location, configuration))!;
}

/**
 * Returns the record that evaluation will report for the last location, as it is now. Only a location that is applied
 * creates a record, which those that follow have.
 */
function userAfter(locations: readonly Location[], stored: DeviceState | undefined): UserState {
  let state = stored;
  let user!: UserState;
  for (const location of locations) {
    const admission = admit(location, state);
    user = admission.user;
    if (admission.result !== 'applied') continue;
    const profile = profileAfter(user.profile, location.details);
    state = stateAfter(location, state, admission, { ...user, profile, last: admission.last });
  }
  const before = stored?.users.find(({ id }) => id === user.id);
  return { ...(before ?? { ...user, profile: null, last: null }), userId: user.userId };
}

function nothingInAnOutage(error: unknown): undefined {
  if (!isPortError(error, 'unavailable')) throw error;
}
