/**
 * Decides whether a location is applied, and by which user record. A client that got no answer sends its request again,
 * and an SDK sends its last fix again: neither may move the device.
 */
import { deriveId } from '../../schemas/ids.js';
import type { DeviceState, LastLocation, Location, OutcomeResult, UserState } from '../../schemas/records.js';
import { rangedText } from './beacons.js';
import { existingUser, profileAfter, resolveUser, usersAfter } from './users.js';

/** What happens to a location. */
interface Admission {
  readonly result: OutcomeResult;
  /** The record before the location: of its user if it is applied, else one that the state contains. */
  readonly user: UserState;
  /** The location as the record keeps it. */
  readonly last: LastLocation;
  /** Whether its fix has the time of the device's last one. */
  readonly isOfLastTime: boolean;
}

const noUsers: readonly UserState[] = [];

/** Compares a location with its device's state (undefined for a new device). */
export function admit(location: Location, state: DeviceState | undefined): Admission {
  const users = state?.users ?? noUsers;
  const resolved = resolveUser(location, users);
  const last = lastLocation(location);
  const laterMs = laterThanLast(location, state);
  const result = resultOf(location, last, laterMs, resolved, state);
  const user = result === 'applied' ? resolved : existingUser(location, users)!;
  return { result, user, last, isOfLastTime: laterMs === 0 };
}

/** Returns the state of the device after a location that is applied. `next` is its user's record. */
export function stateAfter(
  location: Location,
  state: DeviceState | undefined,
  { last, isOfLastTime }: Admission,
  next: UserState,
): DeviceState {
  const overtaken = isOfLastTime ? overtakenAfter(location, last, state!) : noFixes;
  return {
    users: usersAfter(state?.users ?? noUsers, next),
    locationMs: clockOf(location),
    ...(overtaken.length > 0 && { overtaken }),
  };
}

const lastLocation = (location: Location): LastLocation => ({
  occurredAt: location.occurredAt,
  receivedAt: location.receivedAt,
  latitude: location.latitude,
  longitude: location.longitude,
  accuracy_m: location.accuracy_m,
  deviceTimed: location.deviceTimed,
  foreground: location.foreground,
  stopped: location.stopped,
  beacons: rangedText(location.beacons),
  ip: location.ip,
  source: location.source,
});

/** Within this time a client that got no answer sends a request again. */
const maxResendMs = 2 * 60_000;

/** A location without a device time is always applied. */
function resultOf(
  location: Location,
  now: LastLocation,
  laterMs: number,
  user: UserState,
  state: DeviceState | undefined,
): OutcomeResult {
  if (laterMs !== 0) return laterMs < 0 ? 'stale' : 'applied';
  const { users, overtaken = noFixes } = state!;
  const isOvertaken = overtaken.length > 0 && overtaken.includes(fixId(location.userId, now));
  const isLast = user === users[0] && isSameFix(now, user.last!) && saysNothingNew(location, user);
  return isOvertaken || isLast ? 'repeat' : 'applied';
}

/** Returns by how many milliseconds a fix is later than the device's last; Infinity if there is none, or no time. */
function laterThanLast(location: Location, state: DeviceState | undefined): number {
  const last = state?.users[0]?.last;
  if (!last || !location.deviceTimed) return Number.POSITIVE_INFINITY;
  return isOfWrongClock(last, location)
    ? laterByClock(location, state!.locationMs)
    : laterBy(location, last.occurredAt, state!.locationMs);
}

/** Longer than a fix is under way to a server. */
const maxLiveAgeMs = 2 * 60_000;
/** Longer than an accepted location waits for its turn on the log. */
const maxWaitMs = 60 * 60_000;

/**
 * Returns whether the clock of a server was ahead when the last location arrived: its time lies far beyond the receipt
 * of a live fix that came after it. By their times, this fix and all others would be stale until that time has come.
 */
const isOfWrongClock = (last: LastLocation, { occurredAt, receivedAt }: Location): boolean =>
  last.occurredAt > receivedAt + maxWaitMs && occurredAt > receivedAt - maxLiveAgeMs;

/**
 * Returns by how many milliseconds of the device's clock a fix is later than the last one, if the clock tells that its
 * request was sent again; Infinity otherwise.
 */
function laterByClock(location: Location, lastClockMs: number | null): number {
  const clockMs = clockOf(location);
  if (clockMs === null || lastClockMs === null) return Number.POSITIVE_INFINITY;
  const laterMs = clockMs - lastClockMs;
  return laterMs <= 0 && laterMs >= -maxResendMs ? laterMs : Number.POSITIVE_INFINITY;
}

/** A device whose clock stands still would otherwise add to its state without end. */
const maxOvertaken = 32;
const noFixes: readonly string[] = [];

/**
 * Returns the fixes of the time of an applied location that came before it. A request with several of one time, sent
 * again, would otherwise move the device back to the first of them, and make all their events again.
 */
function overtakenAfter(location: Location, now: LastLocation, state: DeviceState): readonly string[] {
  const { users, overtaken = noFixes } = state;
  const { userId, last } = users[0]!;
  if (!last!.deviceTimed) return noFixes;
  // An SDK sends its last fix again to report a changed profile.
  if (userId === location.userId && isSameFix(now, last!)) return overtaken;
  return [...overtaken, fixId(userId, last!)].slice(-maxOvertaken);
}

/** Returns the same id for fixes of one time that differ in nothing else. */
const fixId = (
  userId: string | null,
  { longitude, latitude, accuracy_m, stopped, foreground, beacons }: LastLocation,
): string => deriveId('fix', JSON.stringify([userId, longitude, latitude, accuracy_m, stopped, foreground, beacons]));

/**
 * Returns by how many milliseconds a fix is later than the one that was applied last.
 *
 * An SDK gives the age of a fix at the moment of sending. The same request that arrives twice therefore has two times
 * of the server, but one time of the device's clock, which decides where the two differ by no more than such a delay.
 * The clock may count from boot: after a restart they differ by far more.
 */
function laterBy(location: Location, lastAt: number, lastClockMs: number | null): number {
  const laterMs = location.occurredAt - lastAt;
  const clockMs = clockOf(location);
  if (clockMs === null || lastClockMs === null) return laterMs;
  const laterByClockMs = clockMs - lastClockMs;
  const delayMs = laterMs - laterByClockMs;
  return delayMs > 0 && delayMs <= maxResendMs ? laterByClockMs : laterMs;
}

/** Returns the time of the fix by the device's clock, in ms; null if it does not tell. */
const clockOf = ({ details }: Location): number | null => details?.locationMs ?? null;

const isSameFix = (now: LastLocation, before: LastLocation): boolean =>
  now.deviceTimed === before.deviceTimed &&
  now.longitude === before.longitude &&
  now.latitude === before.latitude &&
  now.accuracy_m === before.accuracy_m &&
  now.stopped === before.stopped &&
  now.foreground === before.foreground &&
  now.beacons === before.beacons;

/** An SDK sends its last fix again to report a changed profile. */
const saysNothingNew = ({ details }: Location, { profile }: UserState): boolean =>
  profileAfter(profile, details) === profile;
