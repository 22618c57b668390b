/** Counts requests, answers, events and response times of a demo run. Pure. */

/** Counts since the start. */
export interface TallySummary {
  readonly sent: number;
  readonly accepted: number;
  /** Number of calls without an answer of 200, by the reason. */
  readonly refusals: Readonly<Record<string, number>>;
  /** Distinct events received in answers, by type. */
  readonly events: Readonly<Record<string, number>>;
  readonly eventCount: number;
}

/** Counts since the last window. */
export interface TallyWindow {
  readonly accepted: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** The counts of a run, and of its current window. */
export interface Tally {
  sent(): void;
  accepted(durationMs: number): void;
  refused(reason: string): void;
  event(id: string, type: string): void;
  eventIds(): ReadonlySet<string>;
  summary(): TallySummary;
  /** Closes the current window and opens the next. */
  takeWindow(): TallyWindow;
}

/** Creates a tally of zeros. Copies of an event count once. */
export function createTally(): Tally {
  let [sent, accepted] = [0, 0];
  let durationsMs: number[] = [];
  const refusals: Record<string, number> = {};
  const events: Record<string, number> = {};
  const ids = new Set<string>();
  return {
    sent: () => {
      sent += 1;
    },
    accepted: (durationMs) => {
      accepted += 1;
      durationsMs.push(durationMs);
    },
    refused: (reason) => {
      refusals[reason] = (refusals[reason] ?? 0) + 1;
    },
    event: (id, type) => {
      if (ids.has(id)) return;
      ids.add(id);
      events[type] = (events[type] ?? 0) + 1;
    },
    eventIds: () => ids,
    summary: () => ({ sent, accepted, refusals: { ...refusals }, events: { ...events }, eventCount: ids.size }),
    takeWindow: () => {
      const sorted = durationsMs.sort((a, b) => a - b);
      durationsMs = [];
      return { accepted: sorted.length, p50Ms: percentile(sorted, 0.5), p99Ms: percentile(sorted, 0.99) };
    },
  };
}

/** Returns the percentile of a sorted list; 0 for an empty list. */
export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
