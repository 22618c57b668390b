/** Commands the location stage to forget users, in the order of a device's locations. */
import { codecs } from '../../../schemas/codecs.js';
import { groupedBy } from '../../../schemas/groups.js';
import { createTurns } from '../../../schemas/turns.js';
import type { Scope } from '../../catalog/types.js';
import { type Log, type StateStore, topics } from '../../ports.js';
import { deviceKey } from '../../records/device-key.js';
import { decodeDeviceState } from '../../records/device-state.js';
import { type ErasureCommand, erasedUsers, erasureCommand } from '../../records/erasure-command.js';
import type { FoundUser, Target } from './statements.js';

interface UserTarget extends Target {
  /** Id of the erasure. */
  readonly _id: string;
}

/** Returns the command that makes one device forget the user. */
export const commandOf = (
  { project, environment }: Scope,
  { _id, name, receivedBy, receivedBeyond }: UserTarget,
  deviceId: string,
): ErasureCommand => ({ project, environment, deviceId, erasure: _id, name, receivedBy, receivedBeyond });

/** Returns commands to forget the users, on every device that was found to have one. */
export const commandsOf = (scope: Scope, users: readonly UserTarget[], found: readonly FoundUser[]): ErasureCommand[] =>
  users.flatMap((user) => {
    const of = found.filter((each) => [each.user, each.user_id, each.device_id].includes(user.name));
    const devices = new Set(of.map(({ device_id }) => device_id));
    for (const device of ['', user.name]) devices.delete(device);
    return Array.from(devices, (device) => commandOf(scope, user, device));
  });

/** What commands are appended to, and the states that they are for. */
export interface CommanderParts {
  readonly log: Pick<Log, 'append' | 'partitionOf' | 'end'>;
  readonly states: Pick<StateStore, 'load'>;
}

/** Commands whose states are read and decoded in one turn of the event loop: a project may have a million devices. */
const commandsPerTurn = 100;
const nextTurn = createTurns();

interface Commander {
  /** Appends commands. Returns the `_id`s of the users that they erase from the states as of now. */
  append(commands: readonly ErasureCommand[]): Promise<string[]>;
  /** Returns the ends of the partitions that have commands. */
  ends(): Promise<Map<number, number>>;
}

/**
 * Creates the commander of one pass.
 * @param isEvaluated tells of an erasure whether the states show every location that was received before it. Then only
 * devices whose states have an erased user need a command. Otherwise all do.
 */
export function createCommander({ log, states }: CommanderParts, isEvaluated: (erasure: string) => boolean): Commander {
  const partitions = new Set<number>();

  async function append(commands: readonly ErasureCommand[]): Promise<string[]> {
    const ids: string[] = [];
    for (let from = 0; from < commands.length; from += commandsPerTurn) {
      await nextTurn();
      ids.push(...(await appendSome(commands.slice(from, from + commandsPerTurn))));
    }
    return ids;
  }

  async function appendSome(commands: readonly ErasureCommand[]): Promise<string[]> {
    const keyed = commands.map((command) => ({ key: deviceKey(command), command: erasureCommand(command) }));
    const byPartition = groupedBy(keyed, ({ key }) => log.partitionOf(topics.locations, key));
    const ids: string[] = [];
    const needed: { readonly key: string; readonly value: Buffer }[] = [];
    for (const [partition, group] of byPartition) {
      const stored = await states.load(
        partition,
        group.map(({ key }) => key),
      );
      for (const [index, { key, command }] of group.entries()) {
        const state = stored[index];
        const users = erasedUsers(command, state && decodeDeviceState(state));
        ids.push(...users.map(({ id }) => id));
        if (users.length === 0 && isEvaluated(command.id)) continue;
        needed.push({ key, value: codecs.location.encode(command) });
        partitions.add(partition);
      }
    }
    if (needed.length > 0) await log.append(topics.locations, needed);
    return ids;
  }

  async function ends(): Promise<Map<number, number>> {
    const all = new Map<number, number>();
    for (const partition of partitions) all.set(partition, await log.end(topics.locations, partition));
    return all;
  }

  return { append, ends };
}
