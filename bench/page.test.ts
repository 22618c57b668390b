import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { renderPage } from './page.js';
import { chartFolder, pagePath } from './publish.js';

const published = readFileSync(pagePath, 'utf8');
/** The page names no file as long as no run of all cases has been published. */
const file = /Made from (\S+) by/.exec(published)?.[1];

test.runIf(file !== undefined)('docs/benchmarks.md and its charts are what the stored results give', () => {
  const { markdown, charts } = renderPage(JSON.parse(readFileSync(file!, 'utf8')), file!);
  expect(published, `run npm run bench -- --page ${file}`).toBe(markdown);
  expect(readdirSync(chartFolder).sort()).toEqual([...charts.keys()].sort());
  for (const [name, svg] of charts) expect(readFileSync(join(chartFolder, name), 'utf8')).toBe(svg);
});

test('a page has a chart and a table for each measure that has figures', () => {
  const rows = ['fenceline', 'tile38'].map((engine, index) => ({
    what: '',
    unit: 'locations/s',
    rounds: [100 + index, 300, 200],
    point: { measure: 'rate', engine, setting: 'cities' },
  }));
  const environment = { commit: '1', date: '2026', node: 'v20', cpu: 'x', cores: 2, memoryGib: 8, load: 0.1 };
  const { markdown, charts } = renderPage({ environment, results: { cities: rows } }, 'bench/results/x.json');
  expect([...charts.keys()]).toEqual(['rate.svg']);
  expect(markdown).toContain('| `tile38` | 200 (101 to 300) |');
  expect(charts.get('rate.svg')).toContain('>200</text>');
});
