/**
 * The benchmark harness: what a case is, and how a figure is taken.
 *
 * Flows in: workloads with fixed seeds. Flows out: rows of min, median and max, printed as a table and kept under
 * `bench/results/` with the environment they were measured in. May import every room but `cli`.
 */

/** What a run was asked for. */
export interface BenchOptions {
  /** Small sizes, to see that every case still runs; its figures mean nothing. */
  readonly smoke: boolean;
  /** `host:port` of a running Tile38, measured beside us when given. */
  readonly tile38: string | undefined;
  /** Folder in which the peer `staticmaps` is installed, measured beside us when given. */
  readonly staticmaps: string | undefined;
  /** How long a case lasts that goes on for as long as wanted. */
  readonly minutes: number | undefined;
}

/** One measured figure; several rounds give its spread. */
export interface Row {
  readonly what: string;
  readonly unit: string;
  readonly rounds: readonly number[];
  /** What it should reach, e.g. `>= 400,000`. */
  readonly target?: string;
}

export interface BenchCase {
  readonly name: string;
  readonly about: string;
  run(options: BenchOptions): Promise<Row[]>;
}

/** min, median and max of at least one round. */
export function spread(rounds: readonly number[]): { min: number; median: number; max: number } {
  const sorted = [...rounds].sort((a, b) => a - b);
  const at = (index: number): number => sorted[index] as number;
  return { min: at(0), median: at(Math.floor((sorted.length - 1) / 2)), max: at(sorted.length - 1) };
}

/** The value below which `share` (0 to 1) of the values lie. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] as number;
}

/** Operations per second of `operation(count)`, after one uncounted round. */
export async function rates(
  rounds: number,
  count: number,
  operation: (count: number) => void | Promise<void>,
): Promise<number[]> {
  await operation(count);
  const results: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const started = performance.now();
    await operation(count);
    results.push((count / (performance.now() - started)) * 1000);
  }
  return results;
}

/** Seeded uniform numbers in [0, 1): mulberry32, so that every run sees the same workload. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
