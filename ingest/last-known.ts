/** A user as far as it is known without waiting: the stored state, or, for a device never seen, what the request itself says. */
import type { ConfigurationReader } from '../pipeline/catalog/types.js';
import { profileAfter, resolveUser } from '../pipeline/evaluation/users.js';
import { type Log, type StateStore, topics } from '../pipeline/ports.js';
import { userOf } from '../pipeline/stages/locations/user.js';
import { deviceStateType } from '../schemas/codecs.js';
import type { User } from '../schemas/json/user.js';
import type { DeviceState, Location, UserState } from '../schemas/records.js';
import { deviceKey } from './track-request.js';

export interface LastKnownSources {
  readonly log: Pick<Log, 'partitionOf'>;
  readonly states: Pick<StateStore, 'load'>;
  readonly configuration: ConfigurationReader;
}

/** The stored users of a device, the latest first. */
export async function storedUsers(
  device: Pick<Location, 'project' | 'environment' | 'deviceId'>,
  { log, states }: Pick<LastKnownSources, 'log' | 'states'>,
): Promise<UserState[]> {
  const key = deviceKey(device);
  const [value] = await states.load(log.partitionOf(topics.locations, key), [key]);
  return value === undefined ? [] : (deviceStateType.fromBuffer(value) as DeviceState).users;
}

/** The user that a location is about, as of before it was applied. */
export async function lastKnownUser(location: Location, sources: LastKnownSources, nowMs: number): Promise<User> {
  const user = resolveUser(location, await storedUsers(location, sources));
  const known = {
    ...user,
    profile: user.profile ?? profileAfter(null, location.details),
    last: user.last ?? { ...location, beacons: null },
  };
  return userOf(known, location, sources.configuration, nowMs)!;
}
