/** Which fences one location may enter: those around its point, and no more of them than can be judged in a moment. */
import type { Location } from '../../schemas/records.js';
import { isGone } from './rules.js';
import type { EvaluationContext } from './types.js';

/**
 * Answers rows of the fences that the location may enter, the first `candidateCount` of them. The point alone decides
 * which, unless entries are buffered: then the accuracy widens the search, as far as {@link EvaluationBounds} allow. A
 * publishable key may claim any accuracy.
 */
export function entryCandidates(location: Location, { fences, settings, bounds }: EvaluationContext): Int32Array {
  const { longitude, latitude, accuracy_m } = location;
  if (!settings.bufferEntries) return fences.candidates(longitude, latitude, 0);
  let reachM = Math.min(accuracy_m, bounds.fullReachM);
  let rows = fences.candidates(longitude, latitude, reachM);
  while (reachM < accuracy_m) {
    const widerM = Math.min(2 * reachM, accuracy_m);
    rows = fences.candidates(longitude, latitude, widerM);
    if (existingCount(rows, location, fences) > bounds.maxEntryCandidates) {
      return fences.candidates(longitude, latitude, reachM);
    }
    reachM = widerM;
  }
  return rows;
}

/** A fence past its `deleteAfter` must not count: it leaves the set whenever it is swept. */
function existingCount(rows: Int32Array, { occurredAt }: Location, fences: EvaluationContext['fences']): number {
  let count = 0;
  for (let index = 0; index < fences.candidateCount; index++) {
    if (!isGone(fences.rules(rows[index]!), occurredAt)) count++;
  }
  return count;
}
