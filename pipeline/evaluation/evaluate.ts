/**
 * Evaluates one location. Input: the location, the device's state, its context. Output: the next state and the
 * transitions. Pure. The given state is not modified, and the next state shares its unchanged parts.
 */
import type { UserState } from '../../schemas/records.js';
import { admit, stateAfter } from './admission.js';
import { beaconsAfter } from './beacon-visits.js';
import { geofencesAfter } from './geofence-visits.js';
import type { Effects, Evaluate, Transition } from './types.js';
import { profileAfter } from './users.js';

/** Evaluates a location against its device's state (undefined for a new device). */
export const evaluate: Evaluate = (location, state, context) => {
  const admission = admit(location, state);
  const { result, user, last } = admission;
  if (state !== undefined && result !== 'applied') return { result, state, user, transitions: [], notEntered: 0 };

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
  return { result, state: stateAfter(location, state, admission, next), user: next, transitions, notEntered };
};

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
