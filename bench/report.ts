/** Formats rows as a table, and stores them in a file for comparisons. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Row, spread } from './case.js';
import type { Environment } from './environment.js';

const grouped = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 4 });

/** Formats rows as lines of a table: minimum, median and maximum of the rounds, aligned for a terminal. */
export function table(rows: readonly Row[]): string {
  const cells = rows.map((row) => {
    const { min, median, max } = spread(row.rounds);
    return [row.what, grouped.format(min), grouped.format(median), grouped.format(max), row.unit, row.target ?? ''];
  });
  const lines = [['', 'min', 'median', 'max', 'unit', 'target'], ...cells];
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  return lines
    .map((line) =>
      line
        .map((cell, column) =>
          column >= 1 && column <= 3 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
        )
        .join('  '),
    )
    .join('\n');
}

/** Adds the cases to `bench/results/<date>-<commit>.json`. Returns its path. */
export function keep(environment: Environment, results: Readonly<Record<string, readonly Row[]>>): string {
  const folder = 'bench/results';
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${environment.date.slice(0, 10)}-${environment.commit}.json`);
  const others = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).results : {};
  writeFileSync(path, `${JSON.stringify({ environment, results: { ...others, ...results } }, null, 1)}\n`);
  return path;
}
