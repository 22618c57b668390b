/** Computes a user's visits to beacons after a location, and the transitions. */
import type { Location, Visit } from '../../schemas/records.js';
import { beginOf, isOfGeneration } from './geofence-visits.js';
import type { Beacons, Effects, EvaluationContext, MonitoredBeacon, Transition } from './types.js';

/**
 * Returns the visits after the location by time of entry, and adds the transitions to `effects`. If `location.beacons`
 * is null, visits continue unless their beacon was deleted. Otherwise exactly the listed beacons are in range.
 */
export function beaconsAfter(
  location: Location,
  visits: Visit[],
  { beacons, bounds }: Pick<EvaluationContext, 'beacons' | 'bounds'>,
  effects: Effects,
): Visit[] {
  if (location.beacons === null && visits.length === 0) return visits;
  const known = knownVisits(location, visits, beacons);
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

/** Returns the visits whose beacon still exists; the same array if nothing changed. */
function knownVisits(location: Location, visits: Visit[], beacons: Beacons): Visit[] {
  const known = visits.flatMap((visit) => {
    const beacon = beacons.byId(visit.id);
    if (beacon === undefined || !isOfGeneration(visit, beacon.generation)) return [];
    const since = beginOf(visit, location);
    return visit.generation === null || since !== visit.since
      ? { ...visit, since, generation: beacon.generation }
      : visit;
  });
  return known.length === visits.length && known.every((visit, index) => visit === visits[index]) ? visits : known;
}

/** Returns the project's beacons that have the identifiers of a ranged beacon, by id. */
function beaconsInRange(ranged: NonNullable<Location['beacons']>, beacons: Beacons): Map<string, MonitoredBeacon> {
  const inRange = new Map<string, MonitoredBeacon>();
  for (const one of ranged) {
    for (const beacon of beacons.matching(one)) inRange.set(beacon.id, beacon);
  }
  return inRange;
}

/** Returns new visits by beacon id, at most `maxEntered`. */
function enteredVisits(
  location: Location,
  remaining: readonly Visit[],
  inRange: ReadonlyMap<string, MonitoredBeacon>,
  maxEntered: number,
  effects: Effects,
): Visit[] {
  const inside = new Set(remaining.map((visit) => visit.id));
  const enterable = [...inRange.values()].filter((beacon) => beacon.enabled && !inside.has(beacon.id));
  const entered = enterable.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, Math.max(0, maxEntered));
  effects.notEntered += enterable.length - entered.length;
  return entered.map(({ id, generation }) => {
    effects.transitions.push(transition('user.entered_beacon', id, null));
    return { id, since: location.occurredAt, dwelled: false, generation };
  });
}

/** Returns a transition with confidence 3, because the device ranged for the beacon. */
const transition = (type: Transition['type'], id: string, durationMs: number | null): Transition => ({
  type,
  id,
  confidence: 3,
  durationMs,
  currentlyOperating: null,
});
