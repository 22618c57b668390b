/**
 * The benchmark harness: what a case is, and how a figure is taken.
 *
 * In: workloads with fixed seeds. Out: rows of min, median and max, printed as a table and stored in `bench/results/`
 * with the environment. The bench may import every module except `cli`, `demo` and `test`.
 */

/** The sizes of a run, smallest first. */
export const allSizes = ['smoke', 'medium', 'full'] as const;
/** The size of a run. */
export type Size = (typeof allSizes)[number];

/** The options of a run. */
export interface BenchOptions {
  /** Runs every case with small sizes, as a test of the bench. The figures are meaningless. */
  readonly smoke: boolean;
  /** The size of the workloads of engines: `medium` has a fifth of the fences and devices. */
  readonly size: Size;
  /** The peers that are measured as well, by name. */
  readonly peers: readonly string[];
  /** The seed of the workloads of engines. */
  readonly seed: number;
  /** Folder with an installation of the peer `staticmaps`, which is measured as well. */
  readonly staticmaps: string | undefined;
  /** Duration of the cases that run for any time. */
  readonly minutes: number | undefined;
}

/** One figure, measured in several rounds. */
export interface Row {
  readonly what: string;
  readonly unit: string;
  readonly rounds: readonly number[];
  /** The target, for example `>= 400,000`. */
  readonly target?: string;
  /** Where `docs/benchmarks.md` shows the figure. */
  readonly point?: Point;
}

/** What a figure measures, of which engine, and under which workload. */
interface Point {
  /** For example `rate`. */
  readonly measure: string;
  readonly engine: string;
  /** The workload, or whatever the measure varies. */
  readonly setting: string;
}

/** A case, which `--case` names. */
export interface BenchCase {
  readonly name: string;
  readonly about: string;
  /** Takes long at the smallest size too, so a smoke run includes it only when it is named. */
  readonly isLong?: true;
  run(options: BenchOptions): Promise<Row[]>;
}

/** Returns min, median and max of at least one round. */
export function spread(rounds: readonly number[]): { min: number; median: number; max: number } {
  const sorted = [...rounds].sort((a, b) => a - b);
  const at = (index: number): number => sorted[index] as number;
  return { min: at(0), median: at(Math.floor((sorted.length - 1) / 2)), max: at(sorted.length - 1) };
}

/** Returns a row that tells how many times the median of `more` is that of `less`. */
export const timesRow = (what: string, more: Row, less: Row, target: string): Row => ({
  what,
  unit: 'times',
  rounds: [spread(more.rounds).median / spread(less.rounds).median],
  target,
});

/** Returns the value below which `share` (0 to 1) of the values lie. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] as number;
}

/** Measures the operations per second of `operation(count)`, after a warm-up round. */
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
