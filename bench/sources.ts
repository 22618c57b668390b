/** Stored results, from which the pages of figures are made. */
import type { Row } from './case.js';
import type { Environment } from './environment.js';

/** The results of a run, as in a file of `bench/results/`. */
export interface Stored {
  readonly environment: Environment;
  /** By the name of the case. */
  readonly results: Readonly<Record<string, readonly Row[]>>;
}

/** A stored file and its path from the root of the project. */
export interface Source {
  readonly file: string;
  readonly stored: Stored;
}

/** Returns the source with the newest results of a case; undefined if none has any. */
export const newestWith = (sources: readonly Source[], name: string): Source | undefined =>
  sources
    .filter(({ stored }) => (stored.results[name] ?? []).length > 0)
    .sort((a, b) => b.stored.environment.date.localeCompare(a.stored.environment.date))[0];
