/** Which geofences a user is inside of after a location, and what is to be told of it. */
import type { Location, UserState, Visit } from '../../schemas/records.js';
import { entryConfidence, exitConfidence } from './confidence.js';
import { entryCandidates } from './entry-candidates.js';
import { isDisabled, isGone, judgeInside, judgeOutside } from './rules.js';
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
/** With more of them, comparing each with each is more expensive than looking them up. */
const maxCompared = 8;

/**
 * Does the visit belong to the fence or beacon that has its id now? A visit stored before there were generations belongs
 * to any.
 */
export const isOfGeneration = ({ generation }: Pick<Visit, 'generation'>, current: number): boolean =>
  generation === null || generation === current;

/** The visits that a user's `geofences` show at an instant: those whose fence is neither gone nor disabled. */
export const listedVisits = (user: UserState, fences: Fences, atMs: number): Visit[] =>
  user.geofences.filter((visit) => {
    const row = rowOf(visit, fences);
    if (row === gone) return false;
    const rules = fences.rules(row);
    return !isGone(rules, atMs) && !isDisabled(rules, atMs);
  });

/** Row of the fence that was entered; {@link gone} when it was deleted, even if another has its id now. */
export function rowOf(visit: Visit, fences: Fences): number {
  const row = fences.rowOf(visit.id);
  return row >= 0 && isOfGeneration(visit, fences.generation(row)) ? row : gone;
}

/**
 * Judges the fences that the user is inside of and those that the location may enter. Answers the visits afterwards, by
 * time of entry (the same array when nothing changed), and adds what happened to `effects`.
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

/** The row of each visit's fence. */
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
 * A user is nearly always still near the fence of a visit: so it is among the candidates, and comparing the ids of a few
 * is much cheaper than to look one up among a million, which waits for memory several times.
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

/** The visit itself when it simply goes on, null when it ends. */
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

/** Rows of the fences that the rules let the user enter. */
function enterableRows(
  location: Location,
  candidates: Int32Array,
  count: number,
  insideRows: readonly number[],
  context: EvaluationContext,
): readonly number[] {
  const { fences } = context;
  const inside = insideRows.length > maxCompared ? new Set(insideRows) : undefined;
  let enterable: number[] | undefined;
  for (let index = 0; index < count; index++) {
    const row = candidates[index]!;
    if (inside === undefined ? insideRows.includes(row) : inside.has(row)) continue;
    const zone = fences.zone(row, location.longitude, location.latitude, location.accuracy_m);
    if (zone === Zone.apart || judgeOutside(row, zone, location, context) !== 'entered') continue;
    enterable ??= [];
    enterable.push(row);
  }
  return enterable ?? noRows;
}

/** New visits, by fence id, of as many of the fences as there is room for. */
function enteredVisits(
  location: Location,
  enterable: readonly number[],
  visitCount: number,
  { fences, bounds }: EvaluationContext,
  effects: Effects,
): Visit[] {
  const isCrowded = visitCount + enterable.length > Math.min(bounds.maxVisits, bounds.maxBufferedVisits);
  const rows = isCrowded ? rowsWithRoom(location, enterable, visitCount, fences, bounds) : enterable;
  effects.notEntered += enterable.length - rows.length;
  if (rows.length === 0) return noVisits;
  const entered = rows.map((row): Visit => {
    effects.transitions.push(transition('user.entered_geofence', row, location, fences));
    return { id: fences.idOf(row), since: location.occurredAt, dwelled: false, generation: fences.generation(row) };
  });
  return entered.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/**
 * The fences that hold the point come first, then the others by the distance of their boundary; equally near ones by
 * id.
 */
function rowsWithRoom(
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
  const room = Math.min(maxVisits, maxBufferedVisits) - visitCount - rows.length;
  // Measuring is the expensive part: a device that is inside of enough already is spared it.
  if (room <= 0) return rows;
  const nearest = beyond
    .map((row) => ({ row, distanceM: -fences.signedDistance(row, longitude, latitude) }))
    .sort((a, b) => a.distanceM - b.distanceM || byId(a.row, b.row));
  return [...rows, ...nearest.slice(0, room).map(({ row }) => row)];
}

/** `visit` is the one that the transition ends or dwells in; none for an entry. */
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
