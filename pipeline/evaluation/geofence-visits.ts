/** Which geofences a user is inside of after a location, and what is to be told of it. */
import type { Location, Stay, UserState } from '../../schemas/records.js';
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
const noStays: Stay[] = [];
const gone = -1;
/** With more of them, comparing each with each is more expensive than looking them up. */
const maxCompared = 8;

/**
 * Does the stay belong to the fence or beacon that has its id now? A stay stored before there were generations belongs
 * to any.
 */
export const isOfGeneration = ({ generation }: Pick<Stay, 'generation'>, current: number): boolean =>
  generation === null || generation === current;

/** The stays that a user's `geofences` show at an instant: those whose fence is neither gone nor disabled. */
export const listedStays = (user: UserState, fences: Fences, atMs: number): Stay[] =>
  user.geofences.filter((stay) => {
    const row = rowOf(stay, fences);
    if (row === gone) return false;
    const rules = fences.rules(row);
    return !isGone(rules, atMs) && !isDisabled(rules, atMs);
  });

/** Row of the fence that was entered; {@link gone} when it was deleted, even if another has its id now. */
export function rowOf(stay: Stay, fences: Fences): number {
  const row = fences.rowOf(stay.id);
  return row >= 0 && isOfGeneration(stay, fences.generation(row)) ? row : gone;
}

/**
 * Judges the fences that the user is inside of and those that the location may enter. Answers the stays afterwards, by
 * time of entry (the same array when nothing changed), and adds what happened to `effects`.
 */
export function geofencesAfter(
  location: Location,
  stays: Stay[],
  context: EvaluationContext,
  effects: Effects,
): Stay[] {
  const { fences } = context;
  const candidates = entryCandidates(location, context);
  const count = fences.candidateCount;
  const rows = rowsOf(stays, candidates, count, fences);
  const remaining = remainingStays(location, stays, rows, context, effects);
  const enterable = enterableRows(location, candidates, count, rows, context);
  if (enterable.length === 0) return remaining;
  const entered = enteredStays(location, enterable, remaining.length, context, effects);
  if (remaining.length === 0 && entered.length === 1) return entered;
  return [...remaining, ...entered].sort((a, b) => a.since - b.since);
}

/** The row of each stay's fence. */
function rowsOf(stays: readonly Stay[], candidates: Int32Array, count: number, fences: Fences): readonly number[] {
  if (stays.length === 0) return noRows;
  const isCompared = count <= maxCompared && stays.length <= maxCompared;
  const rows: number[] = [];
  for (const stay of stays) {
    const row = isCompared ? candidateOf(stay, candidates, count, fences) : gone;
    rows.push(row === gone ? rowOf(stay, fences) : row);
  }
  return rows;
}

/**
 * A user is nearly always still near the fence of a stay: so it is among the candidates, and comparing the ids of a few
 * is much cheaper than to look one up among a million, which waits for memory several times.
 */
function candidateOf(stay: Stay, candidates: Int32Array, count: number, fences: Fences): number {
  for (let index = 0; index < count; index++) {
    const row = candidates[index]!;
    if (fences.idOf(row) === stay.id) return isOfGeneration(stay, fences.generation(row)) ? row : gone;
  }
  return gone;
}

function remainingStays(
  location: Location,
  stays: Stay[],
  rows: readonly number[],
  context: EvaluationContext,
  effects: Effects,
): Stay[] {
  let changed: Stay[] | undefined;
  for (let index = 0; index < stays.length; index++) {
    const stay = stays[index]!;
    const after = stayAfter(location, stay, rows[index]!, context, effects);
    if (after !== stay) changed ??= stays.slice(0, index);
    if (after !== null) changed?.push(after);
  }
  return changed ?? stays;
}

/** The stay itself when it simply goes on, null when it ends. */
function stayAfter(
  location: Location,
  stay: Stay,
  row: number,
  context: EvaluationContext,
  effects: Effects,
): Stay | null {
  const { fences } = context;
  const verdict = row === gone ? 'gone' : judgeInside(row, stay, location, context);
  switch (verdict) {
    case 'gone':
    case 'left_in_silence':
      return null;
    case 'exited':
      effects.transitions.push(transition('user.exited_geofence', row, location, fences, stay));
      return null;
    case 'dwelled':
      effects.transitions.push(transition('user.dwelled_in_geofence', row, location, fences, stay));
      return { ...stay, dwelled: true, generation: fences.generation(row) };
    default:
      return stay.generation === null ? { ...stay, generation: fences.generation(row) } : stay;
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

/** New stays, by fence id, of as many of the fences as there is room for. */
function enteredStays(
  location: Location,
  enterable: readonly number[],
  visits: number,
  { fences, bounds }: EvaluationContext,
  effects: Effects,
): Stay[] {
  const isCrowded = visits + enterable.length > Math.min(bounds.maxVisits, bounds.maxBufferedVisits);
  const rows = isCrowded ? rowsWithRoom(location, enterable, visits, fences, bounds) : enterable;
  effects.notEntered += enterable.length - rows.length;
  if (rows.length === 0) return noStays;
  const entered = rows.map((row): Stay => {
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
  visits: number,
  fences: Fences,
  { maxVisits, maxBufferedVisits }: EvaluationBounds,
): number[] {
  const byId = (one: number, other: number): number => (fences.idOf(one) < fences.idOf(other) ? -1 : 1);
  const holding: number[] = [];
  const beyond: number[] = [];
  for (const row of enterable) {
    (fences.zone(row, longitude, latitude, accuracy_m) === Zone.near ? beyond : holding).push(row);
  }
  const rows = holding.sort(byId).slice(0, Math.max(0, maxVisits - visits));
  const room = Math.min(maxVisits, maxBufferedVisits) - visits - rows.length;
  // Measuring is the expensive part: a device that is inside of enough already is spared it.
  if (room <= 0) return rows;
  const nearest = beyond
    .map((row) => ({ row, distanceM: -fences.signedDistance(row, longitude, latitude) }))
    .sort((a, b) => a.distanceM - b.distanceM || byId(a.row, b.row));
  return [...rows, ...nearest.slice(0, room).map(({ row }) => row)];
}

/** `stay` is the one that the transition ends or dwells in; none for an entry. */
function transition(
  type: Transition['type'],
  row: number,
  location: Location,
  fences: Fences,
  stay?: Stay,
): Transition {
  const { hours } = fences.rules(row);
  const zone = fences.zone(row, location.longitude, location.latitude, location.accuracy_m);
  const confidenceOf = type === 'user.exited_geofence' ? exitConfidence : entryConfidence;
  return {
    type,
    id: fences.idOf(row),
    confidence: confidenceOf(zone, row, location, fences),
    durationMs: stay === undefined ? null : Math.max(0, location.occurredAt - stay.since),
    currentlyOperating: hours === null ? null : hours(location.occurredAt),
  };
}
