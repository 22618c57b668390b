/** Which beacons a user is in range of after a location, and what is to be told of it. */
import type { Location, Stay } from '../../schemas/records.js';
import type { Beacons, MonitoredBeacon, Transition } from './types.js';

/**
 * `location.beacons` null says nothing: every stay goes on, but a deleted beacon is forgotten. Otherwise exactly the listed
 * ones are in range. Answers the stays afterwards, by time of entry, and adds what happened to `transitions`.
 */
export function beaconsAfter(location: Location, stays: Stay[], beacons: Beacons, transitions: Transition[]): Stay[] {
  if (location.beacons === null && stays.length === 0) return stays;
  const known = stays.filter((stay) => beacons.byId(stay.id) !== undefined);
  if (location.beacons === null) return known.length === stays.length ? stays : known;

  const inRange = beaconsInRange(location.beacons, beacons);
  const remaining = known.filter((stay) => inRange.has(stay.id));
  for (const stay of known) {
    if (inRange.has(stay.id) || !beacons.byId(stay.id)!.enabled) continue;
    transitions.push(transition('user.exited_beacon', stay.id, Math.max(0, location.occurredAt - stay.since)));
  }
  const entered = enteredStays(location, known, inRange, transitions);
  return [...remaining, ...entered].sort((a, b) => a.since - b.since);
}

/** The ranged beacons that the project knows, by id. */
function beaconsInRange(ranged: NonNullable<Location['beacons']>, beacons: Beacons): Map<string, MonitoredBeacon> {
  const inRange = new Map<string, MonitoredBeacon>();
  for (const one of ranged) {
    const beacon = beacons.match(one);
    if (beacon !== undefined) inRange.set(beacon.id, beacon);
  }
  return inRange;
}

/** New stays, by beacon id. */
function enteredStays(
  location: Location,
  stays: readonly Stay[],
  inRange: ReadonlyMap<string, MonitoredBeacon>,
  transitions: Transition[],
): Stay[] {
  const inside = new Set(stays.map((stay) => stay.id));
  const entered = [...inRange.values()].filter((beacon) => beacon.enabled && !inside.has(beacon.id)).map((beacon) => beacon.id);
  for (const id of entered) transitions.push(transition('user.entered_beacon', id, null));
  return entered.sort().map((id) => ({ id, since: location.occurredAt, dwelled: false }));
}

/** Hearing a beacon, or listening and not hearing it, is as sure as it gets: confidence 3. */
const transition = (type: Transition['type'], id: string, durationMs: number | null): Transition => ({
  type,
  id,
  confidence: 3,
  durationMs,
  currentlyOperating: null,
});
