/** Which beacons a user is in range of after a location, and what is to be told of it. */
import type { Location, Stay } from '../../schemas/records.js';
import { isOfGeneration } from './geofence-visits.js';
import type { Beacons, Effects, EvaluationContext, MonitoredBeacon, Transition } from './types.js';

/**
 * `location.beacons` null says nothing: every stay goes on, but a deleted beacon is forgotten. Otherwise exactly the
 * listed ones are in range. Answers the stays afterwards, by time of entry, and adds what happened to `effects`.
 */
export function beaconsAfter(
  location: Location,
  stays: Stay[],
  { beacons, bounds }: Pick<EvaluationContext, 'beacons' | 'bounds'>,
  effects: Effects,
): Stay[] {
  if (location.beacons === null && stays.length === 0) return stays;
  const known = knownStays(stays, beacons);
  if (location.beacons === null) return known;

  const inRange = beaconsInRange(location.beacons, beacons);
  const remaining = known.filter((stay) => inRange.has(stay.id));
  for (const stay of known) {
    if (inRange.has(stay.id) || !beacons.byId(stay.id)!.enabled) continue;
    effects.transitions.push(transition('user.exited_beacon', stay.id, Math.max(0, location.occurredAt - stay.since)));
  }
  const entered = enteredStays(location, remaining, inRange, bounds.maxVisits - remaining.length, effects);
  return [...remaining, ...entered].sort((a, b) => a.since - b.since);
}

/** The stays whose beacon is still there, the same array when nothing changed. */
function knownStays(stays: Stay[], beacons: Beacons): Stay[] {
  const known = stays.flatMap((stay) => {
    const beacon = beacons.byId(stay.id);
    if (beacon === undefined || !isOfGeneration(stay, beacon.generation)) return [];
    return stay.generation === null ? { ...stay, generation: beacon.generation } : stay;
  });
  return known.length === stays.length && known.every((stay, index) => stay === stays[index]) ? stays : known;
}

/** The ranged beacons that the project knows, by id: every one that has the identifiers of a ranged one. */
function beaconsInRange(ranged: NonNullable<Location['beacons']>, beacons: Beacons): Map<string, MonitoredBeacon> {
  const inRange = new Map<string, MonitoredBeacon>();
  for (const one of ranged) {
    for (const beacon of beacons.matching(one)) inRange.set(beacon.id, beacon);
  }
  return inRange;
}

/** New stays, by beacon id, as many as there is room for. */
function enteredStays(
  location: Location,
  remaining: readonly Stay[],
  inRange: ReadonlyMap<string, MonitoredBeacon>,
  room: number,
  effects: Effects,
): Stay[] {
  const inside = new Set(remaining.map((stay) => stay.id));
  const enterable = [...inRange.values()].filter((beacon) => beacon.enabled && !inside.has(beacon.id));
  const entered = enterable.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, Math.max(0, room));
  effects.notEntered += enterable.length - entered.length;
  return entered.map(({ id, generation }) => {
    effects.transitions.push(transition('user.entered_beacon', id, null));
    return { id, since: location.occurredAt, dwelled: false, generation };
  });
}

/** Hearing a beacon, or listening and not hearing it, is as sure as it gets: confidence 3. */
const transition = (type: Transition['type'], id: string, durationMs: number | null): Transition => ({
  type,
  id,
  confidence: 3,
  durationMs,
  currentlyOperating: null,
});
