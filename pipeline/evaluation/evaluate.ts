/**
 * Evaluates one location. Input: the location, the device's state, its context. Output: the next state and the
 * transitions. Pure. The given state is not modified, and the next state shares its unchanged parts.
 */
import { deriveId } from '../../schemas/ids.js';
import type { DeviceState, LastLocation, Location, OutcomeResult, UserState } from '../../schemas/records.js';
import { beaconsAfter } from './beacon-visits.js';
import { rangedText } from './beacons.js';
import { geofencesAfter } from './geofence-visits.js';
import type { Effects, Evaluate, Transition } from './types.js';
import { existingUser, profileAfter, resolveUser, usersAfter } from './users.js';

const noUsers: readonly UserState[] = [];

/** Evaluates a location against its device's state (undefined for a new device). */
export const evaluate: Evaluate = (location, state, context) => {
  const users = state?.users ?? noUsers;
  const user = resolveUser(location, users);
  const last = lastLocation(location);

  const laterMs = laterThanLast(location, state);
  const result = resultOf(location, last, laterMs, user, state);
  if (state !== undefined && result !== 'applied') {
    return { result, state, user: existingUser(location, users) ?? user, transitions: [], notEntered: 0 };
  }

  const effects: Effects = { transitions: [], notEntered: 0 };
  const next: UserState = {
    id: user.id,
    userId: user.userId,
    createdAt: user.createdAt,
    profile: profileAfter(user.profile, location.details),
    last,
    geofences: geofencesAfter(location, user.geofences, context, effects),
    beacons: beaconsAfter(location, user.beacons, context, effects),
  };
  const { transitions, notEntered } = effects;
  if (transitions.length > 1) transitions.sort(inOrder);
  const overtaken = laterMs === 0 ? overtakenAfter(location, last, state!) : noFixes;
  const after: DeviceState = {
    users: usersAfter(users, next),
    locationMs: fixTimesOf(location).locationMs,
    ...(overtaken.length > 0 && { overtaken }),
  };
  return { result, state: after, user: next, transitions, notEntered };
};

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

/**
 * Returns whether a location is applied, a repeat or stale. A location without a device time is always applied.
 */
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
  return laterBy(location, { occurredAt: last.occurredAt, locationMs: state!.locationMs });
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

/** The times of a device's last applied location. */
export interface FixTimes {
  /** Epoch ms. */
  readonly occurredAt: number;
  /** By the device's clock, in ms; null if it does not tell. */
  readonly locationMs: number | null;
}

export const fixTimesOf = ({ occurredAt, details }: Location): FixTimes => ({
  occurredAt,
  locationMs: details?.locationMs ?? null,
});

/** Returns whether a location changes nothing because its fix is older than the last one that was applied. */
export const isStale = (location: Location, before: FixTimes): boolean =>
  location.deviceTimed && laterBy(location, before) < 0;

/**
 * Returns by how many milliseconds a fix is later than the one that was applied last.
 *
 * An SDK gives the age of a fix at the moment of sending. The same request that arrives twice therefore has two times
 * of the server, but one time of the device's clock, which decides where the two differ by no more than such a delay.
 * The clock may count from boot: after a restart they differ by far more.
 */
function laterBy(location: Location, before: FixTimes): number {
  const now = fixTimesOf(location);
  const laterMs = now.occurredAt - before.occurredAt;
  if (now.locationMs === null || before.locationMs === null) return laterMs;
  const laterByClockMs = now.locationMs - before.locationMs;
  const delayMs = laterMs - laterByClockMs;
  return delayMs > 0 && delayMs <= maxResendMs ? laterByClockMs : laterMs;
}

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

/** The order of the transitions of one location by type. Transitions of one type are ordered by id. */
export const transitionOrder: readonly Transition['type'][] = [
  'user.exited_geofence',
  'user.entered_geofence',
  'user.dwelled_in_geofence',
  'user.exited_beacon',
  'user.entered_beacon',
];

/** Compares by {@link transitionOrder}, then by id. */
const inOrder = (a: Transition, b: Transition): number =>
  transitionOrder.indexOf(a.type) - transitionOrder.indexOf(b.type) || (a.id < b.id ? -1 : 1);
