/** The users in payloads, as JSON: the current stored states, each device loaded once per batch. */
import { groupedBy } from '../../../schemas/groups.js';
import type { DeviceState, Event } from '../../../schemas/records.js';
import { eventJson } from '../../../schemas/wire/user.js';
import type { ConfigurationReader } from '../../catalog/types.js';
import { type Log, type StateStore, topics } from '../../ports.js';
import { storedUserText } from '../../records/deliveries.js';
import { decodeDeviceState } from '../../records/device-state.js';
import type { DeviceScope } from '../../records/user.js';

/** What the users of payloads are read from. */
export interface UserTextParts {
  readonly log: Pick<Log, 'partitionOf'>;
  readonly states: Pick<StateStore, 'load'>;
  readonly configuration: ConfigurationReader;
}

/** An event with the key of its record, which identifies the device. */
export interface EventOfDevice {
  readonly key: string;
  readonly event: Event;
}

/**
 * Returns the user of an event as JSON: the stored user, as of the event or later; else the event's own fields of the
 * user; undefined if it has none. Only for events given to {@link loadUserTexts}.
 */
export type UserText = (of: EventOfDevice) => string | undefined;

/** Loads the users of the events of one batch. Resolves to a function that returns their JSON. */
export async function loadUserTexts(
  { log, states, configuration }: UserTextParts,
  events: readonly EventOfDevice[],
): Promise<UserText> {
  const stored = await loadStates(log, states, new Set(events.map(({ key }) => key)));
  /** Texts by device and user. */
  const texts = new Map<string, Map<string, string | undefined>>();

  function storedText(key: string, id: string, device: DeviceScope): string | undefined {
    const ofDevice = texts.get(key) ?? new Map<string, string | undefined>();
    texts.set(key, ofDevice);
    if (!ofDevice.has(id)) ofDevice.set(id, storedUserText(stored.get(key), id, device, configuration));
    return ofDevice.get(id);
  }

  return ({ key, event }) => {
    const { project, environment, user } = event;
    if (user === null) return undefined;
    const { id, deviceId } = user;
    const text = id === null || deviceId === null ? undefined : storedText(key, id, { project, environment, deviceId });
    return text ?? JSON.stringify(eventJson(event).user);
  };
}

async function loadStates(
  log: UserTextParts['log'],
  states: UserTextParts['states'],
  keys: ReadonlySet<string>,
): Promise<ReadonlyMap<string, DeviceState>> {
  const keysByPartition = groupedBy(keys, (key) => log.partitionOf(topics.locations, key));
  const loaded = new Map<string, DeviceState>();
  for (const [partition, ofPartition] of keysByPartition) {
    const values = await states.load(partition, ofPartition);
    for (const [index, value] of values.entries()) {
      if (value) loaded.set(ofPartition[index] as string, decodeDeviceState(value));
    }
  }
  return loaded;
}
