/** Computes a user's visits to geofences after a location, and the transitions. */
import type { Location, UserState, Visit } from '../../schemas/records.js';
import {
  decidingAccuracyM,
  entryConfidence,
  exitConfidence,
  isDisabled,
  isGone,
  judgeInside,
  judgeOutside,
} from './rules.js';
import {
  type Effects,
  type EvaluationBounds,
  type EvaluationContext,
  type Fences,
  type Transition,
  Zone,
} from './types.js';

const noRows: readonly number[] = [];
const noVisits: Visit[] = [];
const gone = -1;
/** Above this number, comparing each visit with each candidate is more expensive than a lookup. */
const maxCompared = 8;

/**
 * Tests whether a visit belongs to the fence or beacon that has its id now. A visit without a generation, of an earlier
 * release, belongs to any.
 */
export const isOfGeneration = ({ generation }: Pick<Visit, 'generation'>, current: number): boolean =>
  generation === null || generation === current;

/** Returns the visits that a user's `geofences` show at an instant: those whose fence exists and is enabled. */
export const listedVisits = (user: UserState, fences: Fences, atMs: number): Visit[] =>
  user.geofences.filter((visit) => {
    const row = rowOf(visit, fences);
    if (row === gone) return false;
    const rules = fences.rules(row);
    return !isGone(rules, atMs) && !isDisabled(rules, atMs);
  });

/** Returns the row of the fence that was entered, or {@link gone} if it was deleted, even if its id was used again. */
export function rowOf(visit: Visit, fences: Fences): number {
  const row = fences.rowOf(visit.id);
  return row >= 0 && isOfGeneration(visit, fences.generation(row)) ? row : gone;
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
  const { fences } = context;
  const candidates = entryCandidates(location, context);
  const count = fences.candidateCount;
  const rows = rowsOf(visits, candidates, count, fences);
  const remaining = remainingVisits(location, visits, rows, context, effects);
  const enterable = enterableRows(location, candidates, count, rows, context);
  if (enterable.length === 0) return remaining;
  const entered = enteredVisits(location, enterable, remaining.length, context, effects);
  if (remaining.length === 0 && entered.length === 1) return entered;
  return [...remaining, ...entered].sort((a, b) => a.since - b.since);
}

/** Returns the row of each visit's fence. */
function rowsOf(visits: readonly Visit[], candidates: Int32Array, count: number, fences: Fences): readonly number[] {
  if (visits.length === 0) return noRows;
  const isCompared = count <= maxCompared && visits.length <= maxCompared;
  const rows: number[] = [];
  for (const visit of visits) {
    const row = isCompared ? candidateOf(visit, candidates, count, fences) : gone;
    rows.push(row === gone ? rowOf(visit, fences) : row);
  }
  return rows;
}

/**
 * Finds the row of a visit's fence among the candidates, or returns {@link gone}. A user is nearly always still near
 * the fence, and comparing a few ids is much cheaper than a lookup among a million, which misses the cache several
 * times.
 */
function candidateOf(visit: Visit, candidates: Int32Array, count: number, fences: Fences): number {
  for (let index = 0; index < count; index++) {
    const row = candidates[index]!;
    if (fences.idOf(row) === visit.id) return isOfGeneration(visit, fences.generation(row)) ? row : gone;
  }
  return gone;
}

function remainingVisits(
  location: Location,
  visits: Visit[],
  rows: readonly number[],
  context: EvaluationContext,
  effects: Effects,
): Visit[] {
  let changed: Visit[] | undefined;
  for (let index = 0; index < visits.length; index++) {
    const visit = visits[index]!;
    const after = visitAfter(location, visit, rows[index]!, context, effects);
    if (after !== visit) changed ??= visits.slice(0, index);
    if (after !== null) changed?.push(after);
  }
  return changed ?? visits;
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
      return { ...visit, dwelled: true, generation: fences.generation(row) };
    default:
      return visit.generation === null ? { ...visit, generation: fences.generation(row) } : visit;
  }
}

/** Returns the rows of the fences that the rules allow the user to enter. */
function enterableRows(
  location: Location,
  candidates: Int32Array,
  count: number,
  insideRows: readonly number[],
  context: EvaluationContext,
): readonly number[] {
  const { fences } = context;
  const { longitude, latitude } = location;
  const accuracyM = decidingAccuracyM(location, context.settings);
  const inside = insideRows.length > maxCompared ? new Set(insideRows) : undefined;
  let enterable: number[] | undefined;
  for (let index = 0; index < count; index++) {
    const row = candidates[index]!;
    if (inside === undefined ? insideRows.includes(row) : inside.has(row)) continue;
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
  const rows = isCrowded ? rowsWithinLimits(location, enterable, visitCount, fences, bounds) : enterable;
  effects.notEntered += enterable.length - rows.length;
  if (rows.length === 0) return noVisits;
  const entered = rows.map((row): Visit => {
    effects.transitions.push(transition('user.entered_geofence', row, location, fences));
    return { id: fences.idOf(row), since: location.occurredAt, dwelled: false, generation: fences.generation(row) };
  });
  return entered.sort((a, b) => (a.id < b.id ? -1 : 1));
}

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
  const byId = (one: number, other: number): number => (fences.idOf(one) < fences.idOf(other) ? -1 : 1);
  const holding: number[] = [];
  const beyond: number[] = [];
  for (const row of enterable) {
    (fences.zone(row, longitude, latitude, accuracy_m) === Zone.near ? beyond : holding).push(row);
  }
  const rows = holding.sort(byId).slice(0, Math.max(0, maxVisits - visitCount));
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

/** Counts fences before their `deleteAfter`. Others must not count, because the sweeper deletes them at any time. */
function existingCount(rows: Int32Array, { occurredAt }: Location, fences: Fences): number {
  let count = 0;
  for (let index = 0; index < fences.candidateCount; index++) {
    if (!isGone(fences.rules(rows[index]!), occurredAt)) count++;
  }
  return count;
}
