/**
 * What one location does. Flows in: the location, the device's state, its context. Flows out: the next state and the
 * transitions.
 * Pure; may import schemas and geometry. The given state is never changed, and what didn't change of it is shared with
 * the next one.
 */
import type { LastLocation, Location, OutcomeResult, UserState } from '../../schemas/records.js';
import { beaconsAfter } from './beacon-visits.js';
import { rangedText } from './beacons.js';
import { geofencesAfter } from './geofence-visits.js';
import type { Effects, Evaluate, Transition } from './types.js';
import { heldUser, profileAfter, resolveUser, usersAfter } from './users.js';

const noUsers: readonly UserState[] = [];

/** Evaluates a location against its device's state (undefined for a new device). */
export const evaluate: Evaluate = (location, state, context) => {
  const users = state?.users ?? noUsers;
  const user = resolveUser(location, users);
  const last = lastLocation(location);

  const result = resultOf(last, user, users[0]);
  if (state !== undefined && result !== 'applied') {
    return { result, state, user: heldUser(location, users) ?? user, transitions: [], notEntered: 0 };
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
 * `latest` is the record whose location was applied last on the device. Without a device time nothing is a repeat or
 * stale.
 */
function resultOf(now: LastLocation, user: UserState, latest: UserState | undefined): OutcomeResult {
  const before = latest?.last ?? null;
  if (before === null || !now.deviceTimed) return 'applied';
  if (now.occurredAt < before.occurredAt) return 'stale';
  return user === latest && saysTheSame(now, before) ? 'repeat' : 'applied';
}

const saysTheSame = (now: LastLocation, before: LastLocation): boolean =>
  now.deviceTimed === before.deviceTimed &&
  now.occurredAt === before.occurredAt &&
  now.longitude === before.longitude &&
  now.latitude === before.latitude &&
  now.accuracy_m === before.accuracy_m &&
  now.stopped === before.stopped &&
  now.foreground === before.foreground &&
  now.beacons === before.beacons;

/** In which the transitions of one location come; those of one type by the id of what they are about. */
export const transitionOrder: readonly Transition['type'][] = [
  'user.exited_geofence',
  'user.entered_geofence',
  'user.dwelled_in_geofence',
  'user.exited_beacon',
  'user.entered_beacon',
];

/** Exits, entries, dwells, then beacons; within each by id. */
const inOrder = (a: Transition, b: Transition): number =>
  transitionOrder.indexOf(a.type) - transitionOrder.indexOf(b.type) || (a.id < b.id ? -1 : 1);
