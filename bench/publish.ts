/** Writes the pages of figures and their charts from stored files. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderMeasurements, sections } from './measurements.js';
import { type Page, renderPage } from './page.js';
import type { Source, Stored } from './sources.js';

/** The page that compares engines. */
export const benchmarksPath = 'docs/benchmarks.md';
/** The page with all other figures. */
export const measurementsPath = 'docs/measurements.md';
/** The folder of the charts, which `benchmarksPath` shows. */
export const chartFolder = 'docs/images/benchmarks';

/** Runs of soaks, which take hours, and of cases that were measured again since the main run. */
const others = [
  'bench/results/2026-11-25-79184b9.json',
  'bench/results/2026-11-23-2ad6723-memory-soak.json',
  'bench/results/2026-11-29-0d3acb16.json',
  'bench/results/2026-11-29-e91a6822-maps.json',
  'bench/results/2026-11-29-c6582b18-maps-soak.json',
  'bench/results/2026-11-29-1bd8db1e-track.json',
];

/** Runs of single cases since the main run of the engines: their harness has changed. */
const othersOfEngines = [
  'bench/results/2026-11-28-dfffd974-growth.json',
  'bench/results/2026-11-28-dfffd974-latency.json',
];

const readStored = (file: string): Source => ({
  file,
  stored: JSON.parse(readFileSync(file, 'utf8')) as Stored,
});

/** Returns the page of measurements from a file of stored results. */
export const measurementsFrom = (file: string): string => renderMeasurements(readStored(file), others.map(readStored));

/** Returns the page of benchmarks and its charts from a file of stored results. */
export const benchmarksFrom = (file: string): Page => renderPage(readStored(file), othersOfEngines.map(readStored));

/**
 * Writes each page whose cases are in the file. `file` is the path of the stored results from the root of the project,
 * in which the bench runs.
 */
export function publish(file: string): void {
  const { stored } = readStored(file);
  if (sections.some(({ name }) => name in stored.results)) writeFileSync(measurementsPath, measurementsFrom(file));
  const { markdown, charts } = benchmarksFrom(file);
  if (charts.size === 0) return;
  writeFileSync(benchmarksPath, markdown);
  mkdirSync(chartFolder, { recursive: true });
  for (const [name, svg] of charts) writeFileSync(join(chartFolder, name), svg);
}
