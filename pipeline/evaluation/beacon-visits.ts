/** Which beacons a user is in range of after a location, and what is to be told of it. */
import type { Location, Visit } from '../../schemas/records.js';
import { isOfGeneration } from './geofence-visits.js';
import type { Beacons, Effects, EvaluationContext, MonitoredBeacon, Transition } from './types.js';

/**
 * `location.beacons` null says nothing: every visit goes on, but a deleted beacon is forgotten. Otherwise exactly the
 * listed ones are in range. Answers the visits afterwards, by time of entry, and adds what happened to `effects`.
 */
export function beaconsAfter(
  location: Location,
  visits: Visit[],
  { beacons, bounds }: Pick<EvaluationContext, 'beacons' | 'bounds'>,
  effects: Effects,
): Visit[] {
  if (location.beacons === null && visits.length === 0) return visits;
  const known = knownVisits(visits, beacons);
  if (location.beacons === null) return known;

  const inRange = beaconsInRange(location.beacons, beacons);
  const remaining = known.filter((visit) => inRange.has(visit.id));
  for (const visit of known) {
    if (inRange.has(visit.id) || !beacons.byId(visit.id)!.enabled) continue;
    effects.transitions.push(
      transition('user.exited_beacon', visit.id, Math.max(0, location.occurredAt - visit.since)),
    );
  }
  const entered = enteredVisits(location, remaining, inRange, bounds.maxVisits - remaining.length, effects);
  return [...remaining, ...entered].sort((a, b) => a.since - b.since);
}

/** The visits whose beacon is still there, the same array when nothing changed. */
function knownVisits(visits: Visit[], beacons: Beacons): Visit[] {
  const known = visits.flatMap((visit) => {
    const beacon = beacons.byId(visit.id);
    if (beacon === undefined || !isOfGeneration(visit, beacon.generation)) return [];
    return visit.generation === null ? { ...visit, generation: beacon.generation } : visit;
  });
  return known.length === visits.length && known.every((visit, index) => visit === visits[index]) ? visits : known;
}

/** The ranged beacons that the project knows, by id: every one that has the identifiers of a ranged one. */
function beaconsInRange(ranged: NonNullable<Location['beacons']>, beacons: Beacons): Map<string, MonitoredBeacon> {
  const inRange = new Map<string, MonitoredBeacon>();
  for (const one of ranged) {
    for (const beacon of beacons.matching(one)) inRange.set(beacon.id, beacon);
  }
  return inRange;
}

/** New visits, by beacon id, as many as there is room for. */
function enteredVisits(
  location: Location,
  remaining: readonly Visit[],
  inRange: ReadonlyMap<string, MonitoredBeacon>,
  room: number,
  effects: Effects,
): Visit[] {
  const inside = new Set(remaining.map((visit) => visit.id));
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
