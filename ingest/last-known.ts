/** A user as far as it is known without waiting: the stored state, or, for a device never seen, what the request itself says. */
import type { ConfigurationReader } from '../pipeline/catalog/types.js';
import { profileAfter, resolveUser } from '../pipeline/evaluation/users.js';
import { type Log, type StateStore, topics } from '../pipeline/ports.js';
import { decodeDeviceState } from '../pipeline/stages/locations/devices.js';
import { userOf } from '../pipeline/stages/locations/user.js';
import { ApiError } from '../schemas/errors.js';
import type { User } from '../schemas/json/user.js';
import type { DeviceState, Location } from '../schemas/records.js';
import { deviceKey } from './track-request.js';

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

/** The user that a location is about, as of before it was applied; while states are out of reach, as the location itself tells it. */
export async function lastKnownUser(location: Location, sources: LastKnownSources): Promise<User> {
  const state = await storedState(location, sources).catch(nothingInAnOutage);
  const user = resolveUser(location, state?.users ?? []);
  const known = {
    ...user,
    profile: user.profile ?? profileAfter(null, location.details),
    last: user.last ?? { ...location, beacons: null },
  };
  return userOf(known, location, sources.configuration)!;
}

function nothingInAnOutage(error: unknown): undefined {
  if (!(error instanceof ApiError && error.code === 'unavailable')) throw error;
}
