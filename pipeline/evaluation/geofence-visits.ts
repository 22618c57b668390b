/** Computes a user's visits to geofences after a location, and the transitions. */
import type { Location, Visit } from '../../schemas/records.js';
import { RowSet } from './row-set.js';
import { decidingAccuracyM, entryConfidence, exitConfidence, isGone, judgeInside, judgeOutside } from './rules.js';
import {
  type Effects,
  type EvaluationBounds,
  type EvaluationContext,
  type Fences,
  type Transition,
  Zone,
} from './types.js';

const noRows: readonly number[] = [];
const gone = -1;
/** Used again for each location. */
const rowsOfVisits = new RowSet();

/**
 * Tests whether a visit belongs to the fence or beacon that has its id now. A visit without a generation, of an earlier
 * release, belongs to any.
 */
export const isOfGeneration = ({ generation }: Pick<Visit, 'generation'>, current: number): boolean =>
  generation === null || generation === current;

/** Returns the row of the fence that was entered, or {@link gone} if it was deleted, even if its id was used again. */
function rowOf(visit: Visit, fences: Fences): number {
  const row = fences.rowOf(visit.id);
  return row >= 0 && isOfGeneration(visit, fences.generation(row)) ? row : gone;
}

/**
 * A visit to a geofence, which remembers the row of its fence. A visit that was read from a store does not: the row is
 * not stored.
 */
class FenceVisit implements Visit {
  declare readonly id: string;
  declare readonly since: number;
  declare readonly dwelled: boolean;
  declare readonly generation: number;
  readonly #row: number;

  constructor(id: string, since: number, dwelled: boolean, row: number, fences: Fences) {
    this.#row = row;
    this.id = id;
    this.since = since;
    this.dwelled = dwelled;
    this.generation = fences.generation(row);
  }

  static isAt(visit: Visit, row: number): visit is FenceVisit {
    return #row in visit && visit.#row === row;
  }

  /**
   * Returns the row that the visit's fence has now, or {@link gone}. Nearly always it is the remembered one. Comparing
   * it is much cheaper than a lookup among a million ids, which misses the cache several times.
   */
  static rowOf(visit: Visit, fences: Fences): number {
    if (!(#row in visit) || !fences.isRowOf(visit.#row, visit.id)) return rowOf(visit, fences);
    return fences.generation(visit.#row) === visit.generation ? visit.#row : gone;
  }
}

/**
 * Evaluates the fences that the user is inside and those that the location may enter. Returns the visits afterwards by
 * time of entry (the same array if nothing changed), and adds the transitions to `effects`.
 */
export function geofencesAfter(
  location: Location,
  visits: Visit[],
  context: EvaluationContext,
  effects: Effects,
): Visit[] {
  const visited = rowsOfVisits;
  visited.clear();
  const remaining = remainingVisits(location, visits, visited, context, effects);
  const enterable = enterableRows(location, entryCandidates(location, context), visited, context);
  if (enterable.length === 0) return remaining;
  return joined(remaining, enteredVisits(location, enterable, remaining.length, context, effects));
}

/** Returns the visits that continue, and adds the rows of all to `visited`. */
function remainingVisits(
  location: Location,
  visits: Visit[],
  visited: RowSet,
  context: EvaluationContext,
  effects: Effects,
): Visit[] {
  let changed: Visit[] | undefined;
  for (let index = 0; index < visits.length; index++) {
    const visit = visits[index]!;
    const row = FenceVisit.rowOf(visit, context.fences);
    if (row !== gone) visited.add(row);
    const after = visitAfter(location, visit, row, context, effects);
    if (after !== visit) changed ??= visits.slice(0, index);
    if (after !== null) changed?.push(after);
  }
  return changed ?? visits;
}

/** Returns both by time of entry. All of `entered` have one time. */
function joined(remaining: Visit[], entered: Visit[]): Visit[] {
  if (remaining.length === 0) return entered;
  if (entered.length === 0) return remaining;
  const { since } = entered[0]!;
  let later = remaining.length;
  while (later > 0 && remaining[later - 1]!.since > since) later--;
  return [...remaining.slice(0, later), ...entered, ...remaining.slice(later)];
}

/** Returns the visit after the location: the same object if it continues unchanged, null if it ends. */
function visitAfter(
  location: Location,
  visit: Visit,
  row: number,
  context: EvaluationContext,
  effects: Effects,
): Visit | null {
  const { fences } = context;
  const verdict = row === gone ? 'gone' : judgeInside(row, visit, location, context);
  switch (verdict) {
    case 'gone':
    case 'left_in_silence':
      return null;
    case 'exited':
      effects.transitions.push(transition('user.exited_geofence', row, location, fences, visit));
      return null;
    case 'dwelled':
      effects.transitions.push(transition('user.dwelled_in_geofence', row, location, fences, visit));
      return new FenceVisit(visit.id, visit.since, true, row, fences);
    default:
      return FenceVisit.isAt(visit, row) && visit.since <= location.occurredAt
        ? visit
        : new FenceVisit(visit.id, beginOf(visit, location), visit.dwelled, row, fences);
  }
}

/**
 * Returns since when the visit lasts. None begins after a later location: a clock that was ahead when it began would
 * otherwise keep the user from dwelling until that time has come.
 */
export const beginOf = ({ since }: Visit, { occurredAt }: Location): number => Math.min(since, occurredAt);

/** Returns the rows of the fences that the rules allow the user to enter, of those that are not visited. */
function enterableRows(
  location: Location,
  candidates: Int32Array,
  visited: RowSet,
  context: EvaluationContext,
): readonly number[] {
  const { fences } = context;
  const { longitude, latitude } = location;
  const accuracyM = decidingAccuracyM(location, context.settings);
  let enterable: number[] | undefined;
  for (let index = 0; index < fences.candidateCount; index++) {
    const row = candidates[index]!;
    if (visited.has(row)) continue;
    const zone = fences.zone(row, longitude, latitude, accuracyM);
    if (zone === Zone.apart || judgeOutside(row, zone, location, context) !== 'entered') continue;
    enterable ??= [];
    enterable.push(row);
  }
  return enterable ?? noRows;
}

/** Returns new visits by fence id, as many as the limits allow. */
function enteredVisits(
  location: Location,
  enterable: readonly number[],
  visitCount: number,
  { fences, bounds }: EvaluationContext,
  effects: Effects,
): Visit[] {
  const isCrowded = visitCount + enterable.length > Math.min(bounds.maxVisits, bounds.maxBufferedVisits);
  const selected = isCrowded ? rowsWithinLimits(location, enterable, visitCount, fences, bounds) : enterable;
  effects.notEntered += enterable.length - selected.length;
  const rows = selected.length > 1 ? selected.toSorted(byIdIn(fences)) : selected;
  return rows.map((row) => {
    effects.transitions.push(transition('user.entered_geofence', row, location, fences));
    return new FenceVisit(fences.idOf(row), location.occurredAt, false, row, fences);
  });
}

const byIdIn =
  (fences: Fences) =>
  (one: number, other: number): number =>
    fences.idOf(one) < fences.idOf(other) ? -1 : 1;

/**
 * Selects the fences to enter: first those that contain the point, then the others by the distance of their boundary,
 * then by id.
 */
function rowsWithinLimits(
  { longitude, latitude, accuracy_m }: Location,
  enterable: readonly number[],
  visitCount: number,
  fences: Fences,
  { maxVisits, maxBufferedVisits }: EvaluationBounds,
): number[] {
  // Sorting thousands takes longer than all other rules, and such a user sends further locations.
  if (visitCount >= maxVisits) return [];
  const byId = byIdIn(fences);
  const holding: number[] = [];
  const beyond: number[] = [];
  for (const row of enterable) {
    (fences.zone(row, longitude, latitude, accuracy_m) === Zone.near ? beyond : holding).push(row);
  }
  const rows = holding.sort(byId).slice(0, maxVisits - visitCount);
  const remainingCount = Math.min(maxVisits, maxBufferedVisits) - visitCount - rows.length;
  // Distances are expensive: skip them if the limit is reached.
  if (remainingCount <= 0) return rows;
  const nearest = beyond
    .map((row) => ({ row, distanceM: -fences.signedDistance(row, longitude, latitude) }))
    .sort((a, b) => a.distanceM - b.distanceM || byId(a.row, b.row));
  return [...rows, ...nearest.slice(0, remainingCount).map(({ row }) => row)];
}

/** Returns a transition. `visit` is the visit of an exit or a dwell. */
function transition(
  type: Transition['type'],
  row: number,
  location: Location,
  fences: Fences,
  visit?: Visit,
): Transition {
  const { hours } = fences.rules(row);
  const zone = fences.zone(row, location.longitude, location.latitude, location.accuracy_m);
  const confidenceOf = type === 'user.exited_geofence' ? exitConfidence : entryConfidence;
  return {
    type,
    id: fences.idOf(row),
    confidence: confidenceOf(zone, row, location, fences),
    durationMs: visit === undefined ? null : Math.max(0, location.occurredAt - visit.since),
    currentlyOperating: hours === null ? null : hours(location.occurredAt),
  };
}

/**
 * Returns the rows of the fences that the location may enter, the first `candidateCount` of the buffer. The point alone
 * decides, unless entries are buffered: then the accuracy extends the search within {@link EvaluationBounds}, because a
 * publishable key may report any accuracy.
 */
export function entryCandidates(location: Location, { fences, settings, bounds }: EvaluationContext): Int32Array {
  const { longitude, latitude, accuracy_m } = location;
  if (!settings.bufferEntries) return fences.candidates(longitude, latitude, 0);
  const wantedM = Math.min(accuracy_m, bounds.maxReachM);
  let reachM = Math.min(wantedM, bounds.fullReachM);
  let rows = fences.candidates(longitude, latitude, reachM);
  while (reachM < wantedM) {
    const widerM = Math.min(2 * reachM, wantedM);
    rows = fences.candidates(longitude, latitude, widerM);
    if (existingCount(rows, location, fences) > bounds.maxEntryCandidates) {
      return fences.candidates(longitude, latitude, reachM);
    }
    reachM = widerM;
  }
  return rows;
}

/** Counts fences before their `deleteAfter`. Others must not count, because the sweeper deletes them at any time. */
function existingCount(rows: Int32Array, { occurredAt }: Location, fences: Fences): number {
  let count = 0;
  for (let index = 0; index < fences.candidateCount; index++) {
    if (!isGone(fences.rules(rows[index]!), occurredAt)) count++;
  }
  return count;
}
