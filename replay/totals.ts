/** Counts the records of a replay. Pure. */
import type { OutcomeResult } from '../schemas/records.js';

/** Counts of locations received in the range, unless a field says otherwise. */
export interface Totals {
  /** Records read, of all projects and times. */
  readonly records: number;
  /** Locations of the project and environment before the range. */
  readonly warmUpLocations: number;
  readonly results: Readonly<Record<OutcomeResult, number>>;
  /** Records that cannot be evaluated. */
  readonly deadLetters: number;
  /** Earliest and latest time of receipt, epoch ms; Infinity and -Infinity without locations. */
  readonly firstReceivedAt: number;
  readonly lastReceivedAt: number;
}

/** Returns mutable totals of zero. */
export const newTotals = () => ({
  records: 0,
  warmUpLocations: 0,
  results: { applied: 0, repeat: 0, stale: 0 },
  deadLetters: 0,
  firstReceivedAt: Number.POSITIVE_INFINITY,
  lastReceivedAt: Number.NEGATIVE_INFINITY,
});

/** The totals before the first record. */
export const noTotals: Totals = newTotals();

/** Returns the totals of both, with the earlier first and the later last time of receipt. */
export const sumOf = (a: Totals, b: Totals): Totals => ({
  records: a.records + b.records,
  warmUpLocations: a.warmUpLocations + b.warmUpLocations,
  results: {
    applied: a.results.applied + b.results.applied,
    repeat: a.results.repeat + b.results.repeat,
    stale: a.results.stale + b.results.stale,
  },
  deadLetters: a.deadLetters + b.deadLetters,
  firstReceivedAt: Math.min(a.firstReceivedAt, b.firstReceivedAt),
  lastReceivedAt: Math.max(a.lastReceivedAt, b.lastReceivedAt),
});
