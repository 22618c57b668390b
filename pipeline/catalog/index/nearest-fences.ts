/** Finds fences by the distance of their boundary from a point. */
import type { MonitoredFences } from './monitored-fences.js';

/** A fence that a search by distance has found. `id` is the `_id` of its geofence. */
export interface FenceAtDistance {
  readonly id: string;
  /** Metres to the boundary; 0 inside. */
  readonly distanceM: number;
}

interface NearestOptions {
  /** Fences must have one of these tags; undefined: all fences. */
  readonly tags?: readonly string[] | undefined;
  readonly maxDistanceM?: number | undefined;
  /** Selects the rows to return. */
  readonly accepts: (row: number) => boolean;
}

const firstReachM = 500;
/**
 * Beyond this reach all fences are examined. Distances are accurate for near fences only: from a pole, a fence beyond
 * the equator may seem nearer than the search box reaches.
 */
const lastReachM = 4_096_000;

/**
 * Number of fences that are measured before the search yields to other work: 0.1 to 1 ms.
 */
const measuredPerTurn = 1_000;

/**
 * Yields fences by distance, then by id, and undefined where the caller may let other work run.
 *
 * Doubles the reach of the search, and only when more fences are requested. The set of fences may change between steps:
 * no fence is returned twice, and every fence that exists throughout is returned.
 */
export function* nearestFences(
  fences: MonitoredFences,
  longitude: number,
  latitude: number,
  { tags, maxDistanceM = Infinity, accepts }: NearestOptions,
): Generator<FenceAtDistance | undefined, void> {
  const wanted = tags && new Set(tags);
  const seen = new Set<string>();

  function* within(reachM: number): Generator<undefined, FenceAtDistance[]> {
    const found: FenceAtDistance[] = [];
    let measured = 0;
    for (const id of newWithin(reachM)) {
      if (measured++ % measuredPerTurn === measuredPerTurn - 1) yield;
      // The set may have changed at the last yield.
      const row = fences.rowOf(id);
      if (row < 0) continue;
      const distanceM = Math.max(0, -fences.signedDistance(row, longitude, latitude));
      if (distanceM > reachM) continue;
      seen.add(id);
      if (accepts(row)) found.push({ id, distanceM });
    }
    return found.sort((a, b) => a.distanceM - b.distanceM || (a.id < b.id ? -1 : 1));
  }

  /** Returns ids of the fences whose boxes are within reach, without those that were examined before. */
  function newWithin(reachM: number): string[] {
    const ids: string[] = [];
    const rows = fences.candidates(longitude, latitude, reachM > lastReachM ? Infinity : reachM);
    for (let index = 0; index < fences.candidateCount; index++) {
      const row = rows[index]!;
      if (wanted && !wanted.has(fences.tag(row))) continue;
      const id = fences.idOf(row);
      if (!seen.has(id)) ids.push(id);
    }
    return ids;
  }

  /** Number of fences to find. Usually reached long before the search covers the world. */
  const total = wanted ? [...wanted].reduce((sum, tag) => sum + fences.tagged(tag), 0) : fences.size;
  for (let reachM = firstReachM; seen.size < total; reachM = reachM >= lastReachM ? Infinity : reachM * 2) {
    yield* yield* within(Math.min(reachM, maxDistanceM));
    if (reachM >= maxDistanceM || reachM === Infinity) return;
  }
}
