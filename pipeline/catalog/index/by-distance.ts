/**
 * Finds fences and beacons by their distance from a point, nearest first.
 *
 * A search may have to examine all of an environment, when what its caller looks for is rare. It measures and orders
 * them in small steps, so that no search holds the evaluating thread.
 */
import { MinHeap } from './min-heap.js';
import type { MonitoredBeacons, PlacedBeacon } from './monitored-beacons.js';
import type { MonitoredFences } from './monitored-fences.js';

/** A fence or beacon that a search by distance has found. `id` is the `_id` of its record. */
export interface AtDistance {
  readonly id: string;
  /** Metres to the boundary of a fence, 0 inside; metres to a beacon. */
  readonly distanceM: number;
}

/** What a search finds in steps: undefined where the caller may let other work run. */
export type FoundByDistance = Generator<AtDistance | undefined, void>;

interface NearestFencesOptions {
  /** Fences must have one of these tags; undefined: all fences. */
  readonly tags?: readonly string[] | undefined;
  readonly maxDistanceM?: number | undefined;
  /** Selects the rows to return. */
  readonly accepts: (row: number) => boolean;
}

interface NearestBeaconsOptions {
  readonly maxDistanceM: number;
  /** Selects the beacons to return. */
  readonly accepts: (beacon: PlacedBeacon) => boolean;
}

/** What is searched, seen from the point. */
interface Surroundings {
  /** Returns how many things there are now, at any distance. */
  total(): number;
  readonly maxDistanceM: number;
  /** Returns ids of at least the things within reach, each once. */
  idsWithin(reachM: number): string[];
  /** Returns metres; undefined for a thing that is gone. */
  distanceTo(id: string): number | undefined;
  /** Tests whether a thing that exists is to be returned. */
  accepts(id: string): boolean;
}

const firstReachM = 500;
/**
 * Beyond this reach all things are examined. Distances are accurate for near ones only: from a pole, a fence beyond the
 * equator may seem nearer than the search box reaches.
 */
const lastReachM = 4_096_000;

/** Number of things that are examined before a search yields to other work: 0.1 to 1 ms. */
const examinedPerStep = 1_000;

/**
 * Yields fences by distance, then by id, and undefined where the caller may let other work run.
 *
 * The set of fences may change between steps: no fence is returned twice, and every fence that exists throughout is
 * returned.
 */
export function nearestFences(
  fences: MonitoredFences,
  longitude: number,
  latitude: number,
  { tags, maxDistanceM = Infinity, accepts }: NearestFencesOptions,
): FoundByDistance {
  const wanted = tags && new Set(tags);
  return byDistance({
    total: () => (wanted ? [...wanted].reduce((sum, tag) => sum + fences.tagged(tag), 0) : fences.size),
    maxDistanceM,
    idsWithin: (reachM) => fences.idsWithin(longitude, latitude, reachM, wanted),
    distanceTo(id) {
      const row = fences.rowOf(id);
      return row < 0 ? undefined : Math.max(0, -fences.signedDistance(row, longitude, latitude));
    },
    accepts: (id) => accepts(fences.rowOf(id)),
  });
}

/** Does the same for beacons. */
export const nearestBeacons = (
  beacons: MonitoredBeacons,
  longitude: number,
  latitude: number,
  { maxDistanceM, accepts }: NearestBeaconsOptions,
): FoundByDistance =>
  byDistance({
    total: () => beacons.size,
    maxDistanceM,
    idsWithin: (reachM) => beacons.idsWithin(longitude, latitude, reachM),
    distanceTo: (id) => beacons.distanceTo(id, longitude, latitude),
    accepts: (id) => accepts(beacons.byId(id)!),
  });

/** Doubles the reach of the search, and only when more things are requested. */
function* byDistance({ total, maxDistanceM, idsWithin, distanceTo, accepts }: Surroundings): FoundByDistance {
  const seen = new Set<string>();

  /** Finds what is within reach and was not seen. `isLast`: nothing is farther away. */
  function* within(reachM: number): Generator<undefined, { found: MinHeap<AtDistance>; isLast: boolean }> {
    const found = new MinHeap<AtDistance>(byDistanceAndId);
    const ids = idsWithin(reachM > lastReachM ? Infinity : reachM);
    // Counted anew for each reach: things that are created meanwhile must not take the place of those farther away.
    let isLast = ids.length === total();
    for (const [index, id] of ids.entries()) {
      if (index % examinedPerStep === examinedPerStep - 1) yield;
      if (seen.has(id)) continue;
      // The set may have changed at the last yield.
      const distanceM = distanceTo(id);
      if (distanceM === undefined) continue;
      if (distanceM > reachM) {
        isLast = false;
        continue;
      }
      seen.add(id);
      if (accepts(id)) found.push({ id, distanceM });
    }
    return { found, isLast };
  }

  for (let reachM = firstReachM; ; reachM = reachM >= lastReachM ? Infinity : reachM * 2) {
    const { found, isLast } = yield* within(Math.min(reachM, maxDistanceM));
    for (let next = found.pop(); next !== undefined; next = found.pop()) yield next;
    if (isLast || reachM >= maxDistanceM || reachM === Infinity) return;
  }
}

const byDistanceAndId = (a: AtDistance, b: AtDistance): number => a.distanceM - b.distanceM || (a.id < b.id ? -1 : 1);
