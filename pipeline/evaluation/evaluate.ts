/**
 * Evaluates one location. Input: the location, the device's state, its context. Output: the next state and the
 * transitions. Pure. The given state is not modified, and the next state shares its unchanged parts.
 */
import type { LastLocation, Location, OutcomeResult, UserState } from '../../schemas/records.js';
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

  const result = resultOf(last, user, users[0]);
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
  return { result, state: { users: usersAfter(users, next) }, user: next, transitions, notEntered };
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

/**
 * Returns whether a location is applied, a repeat or stale. `latest` is the record whose location was applied last on
 * the device. A location without a device time is always applied.
 */
function resultOf(now: LastLocation, user: UserState, latest: UserState | undefined): OutcomeResult {
  const before = latest?.last ?? null;
  if (before === null || !now.deviceTimed) return 'applied';
  if (now.occurredAt < before.occurredAt) return 'stale';
  return user === latest && isRepeat(now, before) ? 'repeat' : 'applied';
}

const isRepeat = (now: LastLocation, before: LastLocation): boolean =>
  now.deviceTimed === before.deviceTimed &&
  now.occurredAt === before.occurredAt &&
  now.longitude === before.longitude &&
  now.latitude === before.latitude &&
  now.accuracy_m === before.accuracy_m &&
  now.stopped === before.stopped &&
  now.foreground === before.foreground &&
  now.beacons === before.beacons;

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
