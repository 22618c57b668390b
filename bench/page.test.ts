import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { renderPage } from './page.js';
import { chartFolder, pagePath } from './publish.js';

test('docs/benchmarks.md and its charts are what the stored results give', () => {
  const published = readFileSync(pagePath, 'utf8');
  const file = /Made from (\S+) by/.exec(published)?.[1] ?? '';
  const { markdown, charts } = renderPage(JSON.parse(readFileSync(file, 'utf8')), file);
  expect(published, `run npm run bench -- --page ${file}`).toBe(markdown);
  expect(readdirSync(chartFolder).sort()).toEqual([...charts.keys()].sort());
  for (const [name, svg] of charts) expect(readFileSync(join(chartFolder, name), 'utf8')).toBe(svg);
});
