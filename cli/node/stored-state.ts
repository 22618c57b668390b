/** The stored state of one device, for questions; evaluation reads its own. */
import type { Scope } from '../../pipeline/catalog/types.js';
import { type Log, type StateStore, topics } from '../../pipeline/ports.js';
import { deviceStateType } from '../../schemas/codecs.js';
import type { DeviceState } from '../../schemas/records.js';

export const storedState =
  (log: Pick<Log, 'partitionOf'>, states: Pick<StateStore, 'load'>) =>
  async ({ project, environment }: Scope, deviceId: string): Promise<DeviceState | undefined> => {
    const key = `${project}/${environment}/${deviceId}`;
    const [encoded] = await states.load(log.partitionOf(topics.locations, key), [key]);
    return encoded && (deviceStateType.fromBuffer(encoded) as DeviceState);
  };
