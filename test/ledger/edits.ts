/**
 * A ledger of edits by (tag, externalId): what clients asked for, when, and what they were answered. It says which
 * final states the answers permit. Pure. Times are of one clock, in any unit.
 */

/** A value of a record: what an edit wrote there, or null for a deletion. Every value is written once. */
type Value = string | null;

export interface Edit {
  readonly pair: string;
  readonly value: Value;
  readonly begunAt: number;
  readonly endedAt: number;
  /** `unknown`: there was no answer, so the edit may have an effect, or none. A refused edit has none. */
  readonly outcome: 'applied' | 'refused' | 'unknown';
  /** Of the answer, if it tells one. */
  readonly revision?: number | undefined;
  /** When the edit's client had read the revision that the edit requires. */
  readonly readAt?: number | undefined;
}

const isBefore = (one: Edit, other: Edit): boolean => one.endedAt < other.begunAt;
const shown = ({ pair, value, outcome, begunAt, endedAt }: Edit): string =>
  `${pair} = ${value} (${outcome}, ${begunAt.toFixed(1)} to ${endedAt.toFixed(1)})`;

/**
 * Returns what contradicts the answers. The state of a pair must be that of an edit which was not refused, and which no
 * acknowledged edit followed. Revisions grow, and an edit that requires a revision overwrites nothing that came later.
 */
export function contradictions(edits: readonly Edit[], state: ReadonlyMap<string, Value>): string[] {
  const found: string[] = [];
  for (const pair of new Set([...edits.map((edit) => edit.pair), ...state.keys()])) {
    const all = edits.filter((edit) => edit.pair === pair);
    const applied = all.filter(({ outcome }) => outcome === 'applied');
    const value = state.get(pair) ?? null;
    const isInitial = value === null && applied.length === 0;
    const isPermitted = all.some(
      (edit) => edit.value === value && edit.outcome !== 'refused' && !applied.some((later) => isBefore(edit, later)),
    );
    if (!isInitial && !isPermitted)
      found.push(`${pair} is ${value}, after ${applied.slice(-3).map(shown).join('; ') || 'no acknowledged edit'}`);
    found.push(...brokenOrders(applied));
  }
  return found;
}

/**
 * Returns the edits that did not know an earlier one, or have no higher revision. It goes through the edits once: a
 * campaign has tens of thousands, and the connections of its clients end while this computes for minutes.
 */
function brokenOrders(applied: readonly Edit[]): string[] {
  const found: string[] = [];
  const byEnd = applied.toSorted((one, other) => one.endedAt - other.endedAt);
  let ended = 0;
  /** Of the edits that ended before the present one began: the one that began last, and that of highest revision. */
  let last: Edit | undefined;
  let highest: Edit | undefined;
  for (const edit of applied.toSorted((one, other) => one.begunAt - other.begunAt)) {
    for (; ended < byEnd.length && isBefore(byEnd[ended]!, edit); ended++) {
      const earlier = byEnd[ended]!;
      if (last === undefined || earlier.begunAt > last.begunAt) last = earlier;
      if ((earlier.revision ?? -1) > (highest?.revision ?? -1)) highest = earlier;
    }
    const { revision, readAt } = edit;
    if (last !== undefined && readAt !== undefined && readAt < last.begunAt)
      found.push(`${shown(edit)} did not know ${shown(last)}`);
    if (highest?.revision !== undefined && revision !== undefined && highest.revision >= revision)
      found.push(`revision ${revision} of ${shown(edit)} follows ${highest.revision}`);
  }
  return found;
}
