/** Fences by the distance of their boundary from a point. */
import type { MonitoredFences } from './monitored-fences.js';

export interface FenceAtDistance {
  readonly id: string;
  /** Metres to the boundary; 0 inside. */
  readonly distanceM: number;
}

export interface NearestOptions {
  /** Any of them; undefined for all fences. */
  readonly tags?: readonly string[] | undefined;
  readonly maxDistanceM?: number | undefined;
  /** Which rows are told. */
  readonly accepts: (row: number) => boolean;
}

const firstReachM = 500;
/**
 * Farther off all fences are looked at: distances are made for nearness, and from a polar point a fence beyond the
 * equator seems nearer than the box of what is so near.
 */
const lastReachM = 4_096_000;

/**
 * After measuring so many fences it is a good moment to let others have a turn: a tenth of a millisecond to a
 * millisecond.
 */
const measuredPerTurn = 1_000;

/**
 * Yields fences, and undefined where others may have a turn.
 *
 * Nearest first, equally near ones by id. Looks within a reach that doubles, and only when more is asked for; the set
 * may change between steps: nothing is told twice, and what was there all the time is told.
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
      // The set may have changed at the last turn.
      const row = fences.rowOf(id);
      if (row < 0) continue;
      const distanceM = Math.max(0, -fences.signedDistance(row, longitude, latitude));
      if (distanceM > reachM) continue;
      seen.add(id);
      if (accepts(row)) found.push({ id, distanceM });
    }
    return found.sort((a, b) => a.distanceM - b.distanceM || (a.id < b.id ? -1 : 1));
  }

  /** Ids of the fences whose boxes are within reach, but for those that were told or refused before. */
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

  /** All that could be told; reached long before the reach is everywhere when the fences are few or near. */
  const total = wanted ? [...wanted].reduce((sum, tag) => sum + fences.tagged(tag), 0) : fences.size;
  for (let reachM = firstReachM; seen.size < total; reachM = reachM >= lastReachM ? Infinity : reachM * 2) {
    yield* yield* within(Math.min(reachM, maxDistanceM));
    if (reachM >= maxDistanceM || reachM === Infinity) return;
  }
}
