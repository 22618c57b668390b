/** Which geofences a user is inside of after a location, and what is to be told of it. */
import type { Location, Stay, UserState } from '../../schemas/records.js';
import { entryConfidence, exitConfidence } from './confidence.js';
import { isDisabled, isGone, judgeInside, judgeOutside } from './rules.js';
import { type Fences, type Surroundings, type Transition, Zone } from './types.js';

const noRows: readonly number[] = [];
const noStays: Stay[] = [];
/** With more candidates than this, looking up a stay's fence is cheaper than comparing ids. */
const maxComparedCandidates = 8;

/** The stays that a user's `geofences` show at an instant: those whose fence is neither gone nor disabled. */
export const listedStays = (user: UserState, fences: Fences, atMs: number): Stay[] =>
  user.geofences.filter((stay) => {
    const row = fences.rowOf(stay.id);
    if (row < 0) return false;
    const rules = fences.rules(row);
    return !isGone(rules, atMs) && !isDisabled(rules, atMs);
  });

/**
 * Judges the fences that the user is inside of and those that the location may enter. Answers the stays afterwards, by time of
 * entry (the same array when nothing changed), and adds what happened to `transitions`.
 */
export function geofencesAfter(location: Location, stays: Stay[], surroundings: Surroundings, transitions: Transition[]): Stay[] {
  const { fences } = surroundings;
  const candidates = fences.candidates(location.longitude, location.latitude, location.accuracy_m);
  const count = fences.candidateCount;
  const rows = rowsOf(stays, candidates, count, fences);
  const remaining = remainingStays(location, stays, rows, surroundings, transitions);
  const entered = enteredStays(location, candidates, count, rows, surroundings, transitions);
  if (entered.length === 0) return remaining;
  if (remaining.length === 0 && entered.length === 1) return entered;
  return [...remaining, ...entered].sort((a, b) => a.since - b.since);
}

/** -1 for a fence that is gone. */
function rowsOf(stays: readonly Stay[], candidates: Int32Array, count: number, fences: Fences): readonly number[] {
  if (stays.length === 0) return noRows;
  const rows: number[] = [];
  for (const { id } of stays) {
    const row = count <= maxComparedCandidates ? candidateOf(id, candidates, count, fences) : -1;
    rows.push(row >= 0 ? row : fences.rowOf(id));
  }
  return rows;
}

/**
 * A user is nearly always still near the fence of a stay: so it is among the candidates, and comparing the ids of a few is much
 * cheaper than to look one up among a million, which waits for memory several times.
 */
function candidateOf(id: string, candidates: Int32Array, count: number, fences: Fences): number {
  for (let index = 0; index < count; index++) {
    const row = candidates[index]!;
    if (fences.idOf(row) === id) return row;
  }
  return -1;
}

function remainingStays(
  location: Location,
  stays: Stay[],
  rows: readonly number[],
  surroundings: Surroundings,
  transitions: Transition[],
): Stay[] {
  let changed: Stay[] | undefined;
  for (let index = 0; index < stays.length; index++) {
    const stay = stays[index]!;
    const after = stayAfter(location, stay, rows[index]!, surroundings, transitions);
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
  surroundings: Surroundings,
  transitions: Transition[],
): Stay | null {
  const verdict = row < 0 ? 'gone' : judgeInside(row, stay, location, surroundings);
  switch (verdict) {
    case 'gone':
    case 'left_in_silence':
      return null;
    case 'exited':
      transitions.push(transition('user.exited_geofence', row, location, surroundings.fences, stay));
      return null;
    case 'dwelled':
      transitions.push(transition('user.dwelled_in_geofence', row, location, surroundings.fences, stay));
      return { ...stay, dwelled: true };
    default:
      return stay;
  }
}

/** New stays, by fence id. */
function enteredStays(
  location: Location,
  candidates: Int32Array,
  count: number,
  insideRows: readonly number[],
  surroundings: Surroundings,
  transitions: Transition[],
): Stay[] {
  const { fences } = surroundings;
  let entered: Stay[] | undefined;
  for (let index = 0; index < count; index++) {
    const row = candidates[index]!;
    if (insideRows.includes(row)) continue;
    const zone = fences.zone(row, location.longitude, location.latitude, location.accuracy_m);
    if (zone === Zone.apart || judgeOutside(row, zone, location, surroundings) !== 'entered') continue;
    transitions.push(transition('user.entered_geofence', row, location, fences));
    entered ??= [];
    entered.push({ id: fences.idOf(row), since: location.occurredAt, dwelled: false });
  }
  return entered?.sort((a, b) => (a.id < b.id ? -1 : 1)) ?? noStays;
}

/** `stay` is the one that the transition ends or dwells in; none for an entry. */
function transition(type: Transition['type'], row: number, location: Location, fences: Fences, stay?: Stay): Transition {
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
