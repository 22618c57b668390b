import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { renderMeasurements } from './measurements.js';
import { renderPage } from './page.js';
import { benchmarksFrom, benchmarksPath, chartFolder, measurementsFrom, measurementsPath } from './publish.js';

const published = readFileSync(benchmarksPath, 'utf8');
const environment = { commit: '1', date: '2026', node: 'v20', cpu: 'x', cores: 2, memoryGib: 8, load: 0.1 };
const figure = { what: 'memory', unit: 'MiB', rounds: [1, 2, 3] };
const fileOf = (page: string): string => /Made from (\S+) by/.exec(page)?.[1] ?? '';

test('docs/benchmarks.md and its charts are what the stored results give', () => {
  const file = fileOf(published);
  const { markdown, charts } = benchmarksFrom(file);
  expect(published, `run npm run bench -- --page ${file}`).toBe(markdown);
  expect(readdirSync(chartFolder).sort()).toEqual([...charts.keys()].sort());
  for (const [name, svg] of charts) expect(readFileSync(join(chartFolder, name), 'utf8')).toBe(svg);
});

test('docs/measurements.md is what the stored results give', () => {
  const page = readFileSync(measurementsPath, 'utf8');
  expect(page, `run npm run bench -- --page ${fileOf(page)}`).toBe(measurementsFrom(fileOf(page)));
});

test.each([
  ['>= 20,000', [21_000, 22_000, 23_000], 'met'],
  ['>= 20,000', [19_000, 22_000, 23_000], 'met by the median'],
  ['<= 15', [14, 16, 17], '**missed**'],
  ['as with 10 m', [14, 16, 17], ''],
])('a figure with the target %s and the rounds %j is %s', (target, rounds, outcome) => {
  const results = { track: [{ what: 'p99', unit: 'ms', rounds, target }] };
  const page = renderMeasurements({ file: 'bench/results/x.json', stored: { environment, results } }, []);
  const line = page.split('\n').find((text) => text.startsWith('| p99'));
  expect(line?.split(' | ').slice(4)).toEqual([target, `${outcome} |`]);
});

test('a case that the run lacks is shown from a seldom run, with its environment', () => {
  const soak = { environment: { ...environment, commit: 'older' }, results: { 'memory-soak': [figure] } };
  const main = { file: 'a.json', stored: { environment, results: { track: [figure] } } };
  const page = renderMeasurements(main, [{ file: 'b.json', stored: soak }]);
  expect(page.match(/^## .*/gm)).toEqual(['## Single track calls', '## Memory over two hours']);
  expect(page).toContain('commit older');
});

test('a page has a chart and a table for each measure that has figures', () => {
  const rows = ['fenceline', 'tile38'].map((engine, index) => ({
    what: '',
    unit: 'locations/s',
    rounds: [100 + index, 300, 200],
    point: { measure: 'rate', engine, setting: 'cities' },
  }));
  const { markdown, charts } = renderPage(
    { file: 'bench/results/x.json', stored: { environment, results: { cities: rows } } },
    [],
  );
  expect([...charts.keys()]).toEqual(['rate.svg']);
  expect(markdown).toContain('| `tile38` | 200 (101 to 300) |');
  expect(charts.get('rate.svg')).toContain('>200</text>');
});

test('a measure of which another run has newer figures is shown from it, with its environment', () => {
  const row = (measure: string, value: number) => ({
    what: '',
    unit: 'us',
    rounds: [value],
    point: { measure, engine: 'fenceline', setting: 'cities' },
  });
  const results = { cities: [row('rate', 1)], growth: [row('growth-fences', 66)] };
  const newer = {
    environment: { ...environment, date: '2027', commit: 'newer' },
    results: { growth: [row('growth-fences', 5)] },
  };
  const { markdown } = renderPage({ file: 'a.json', stored: { environment, results } }, [
    { file: 'b.json', stored: newer },
  ]);
  expect(markdown).toContain('| `fenceline` | 5 |');
  expect(markdown).not.toContain('| `fenceline` | 66 |');
  expect(markdown.match(/commit newer/g)).toHaveLength(1);
});
