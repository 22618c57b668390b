/**
 * The command to erase a user from the state of a device, in the order of the device's locations.
 *
 * It is a record of topic `locations` at a latitude that no location has. A release that does not know commands takes
 * it for an invalid location, and writes a dead letter instead of evaluating it (docs/decisions/038).
 */
import type { Environment } from '../../schemas/json/common.js';
import type { ErasureRecord } from '../../schemas/json/erasure.js';
import type { DeviceState, Location, UserState } from '../../schemas/records.js';

const commandLatitude = 1_000;

/**
 * The times of receipt of what an erasure by name erases, epoch ms: up to the request, and beyond every present time. A
 * clock that was ahead and was set back has left these. The times between them are those of a user who has returned.
 */
export interface ErasedTimes {
  readonly receivedBy: number;
  /** Later than clocks of nodes that agree can be. */
  readonly receivedBeyond: number;
}

/** Returns whether an erasure by name erases what was received at a time. */
export const isErasedTime = ({ receivedBy, receivedBeyond }: ErasedTimes, timeMs: number): boolean =>
  timeMs <= receivedBy || timeMs > receivedBeyond;

/** Longer than clocks of nodes differ, and than an accepted location takes to reach its topic. */
export const erasureGraceMs = 15_000;

/** Returns the times of what is erased that was received by a time, epoch ms. `nowMs` is the present. */
export const erasedTimes = (receivedBy: number, nowMs: number, graceMs = erasureGraceMs): ErasedTimes => ({
  receivedBy,
  receivedBeyond: Math.max(receivedBy, nowMs) + graceMs,
});

/**
 * Returns until when an erasure covers what was received, epoch ms. A clock that was ahead at the request has not made
 * it cover what comes after its completion.
 */
export const coveredUntil = (
  { createdAt, completedAt }: Pick<ErasureRecord, 'createdAt' | 'completedAt'>,
  nowMs: number,
): number => Math.min(createdAt, completedAt ?? nowMs);

/** Users that were created at other times are kept, unless the name is their `_id`. */
export interface ErasureCommand extends ErasedTimes {
  readonly project: string;
  readonly environment: Environment;
  readonly deviceId: string;
  /** Id of the erasure. */
  readonly erasure: string;
  /** The device, or the userId or `_id` of one of its users. */
  readonly name: string;
}

/** Returns whether a record of topic `locations` is a command instead of a location. */
export const isErasureCommand = ({ latitude }: Location): boolean => latitude === commandLatitude;

/** Returns the command as it is written to topic `locations`. */
export const erasureCommand = ({
  project,
  environment,
  deviceId,
  erasure,
  name,
  receivedBy,
  receivedBeyond,
}: ErasureCommand): Location => ({
  id: erasure,
  project,
  environment,
  deviceId,
  userId: name,
  latitude: commandLatitude,
  longitude: 0,
  accuracy_m: 0,
  occurredAt: receivedBeyond,
  receivedAt: receivedBy,
  deviceTimed: false,
  foreground: false,
  stopped: false,
  replayed: false,
  beacons: null,
  ip: null,
  source: null,
  replyTo: null,
  details: null,
});

/** Commands of earlier releases have one time twice, and erase nothing beyond it. */
const timesOf = ({ receivedAt, occurredAt }: Location): ErasedTimes => ({
  receivedBy: receivedAt,
  receivedBeyond: occurredAt > receivedAt ? occurredAt : Number.POSITIVE_INFINITY,
});

/** A user who returns has another `_id`, so an `_id` needs no time. */
function isErased(command: Location, user: UserState): boolean {
  const { deviceId, userId: name } = command;
  if (user.id === name) return true;
  return isErasedTime(timesOf(command), user.createdAt) && (deviceId === name || user.userId === name);
}

/** Returns the users of a device that a command erases. */
export const erasedUsers = (command: Location, state: DeviceState | undefined): UserState[] =>
  (state?.users ?? []).filter((user) => isErased(command, user));

/**
 * Returns the state without the erased users; undefined if none is left. A sole anonymous record that is left starts
 * after the erasure: an erased user who returns takes it over, and a repeated command must not erase it.
 */
export function withoutErased(command: Location, state: DeviceState): DeviceState | undefined {
  const left = state.users.filter((user) => !isErased(command, user));
  const [only] = left;
  if (only === undefined) return undefined;
  const isOpen = left.length === 1 && only.userId === null && left.length < state.users.length;
  const isOld = isErasedTime(timesOf(command), only.createdAt);
  const users = isOpen && isOld ? [{ ...only, createdAt: command.receivedAt + 1 }] : left;
  // The clock is that of the latest location. Fixes of one time may be those of erased users, and are forgotten.
  return { users, locationMs: left[0] === state.users[0] ? state.locationMs : null };
}
