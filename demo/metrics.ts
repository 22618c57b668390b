/** Parses Prometheus text and computes the figures of the demo. Pure. */

/** Values by series, for example `fenceline_locations_evaluated_total{result="applied"}`. */
export type Samples = ReadonlyMap<string, number>;

/** Returns the value of each series by its name with labels, as in the text. Comments are skipped. */
export function parseMetrics(text: string): Samples {
  const samples = new Map<string, number>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const space = line.lastIndexOf(' ');
    samples.set(line.slice(0, space), Number(line.slice(space + 1)));
  }
  return samples;
}

/** Returns the number of committed locations with a result: applied, repeat or stale. */
export const evaluated = (samples: Samples, result: string): number =>
  samples.get(`fenceline_locations_evaluated_total{result="${result}"}`) ?? 0;

/**
 * Returns the mean time from the append of a batch's oldest location to its commit, between two readings; undefined if
 * nothing was committed.
 */
export function meanLagMs(before: Samples, after: Samples): number | undefined {
  const grown = (part: string) =>
    (after.get(`fenceline_location_lag_seconds_${part}`) ?? 0) -
    (before.get(`fenceline_location_lag_seconds_${part}`) ?? 0);
  const batches = grown('count');
  return batches > 0 ? (1_000 * grown('sum')) / batches : undefined;
}
