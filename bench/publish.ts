/** Writes the page of benchmarks and its charts from a stored file. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderPage, type Stored } from './page.js';

export const pagePath = 'docs/benchmarks.md';
export const chartFolder = 'docs/images/benchmarks';

/** `file` is the path of the stored results from the root of the project, in which the bench runs. */
export function publish(file: string): void {
  const { markdown, charts } = renderPage(JSON.parse(readFileSync(file, 'utf8')) as Stored, file);
  writeFileSync(pagePath, markdown);
  mkdirSync(chartFolder, { recursive: true });
  for (const [name, svg] of charts) writeFileSync(join(chartFolder, name), svg);
}
