/** The statements of docs/analytics.md, run as they stand: a guide that doesn't work is a bug. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { useAnalytics } from '../testing/fixtures.js';
import { questions } from './routes.js';

const text = readFileSync(new URL('../../docs/analytics.md', import.meta.url), 'utf8');
const statements = [...text.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, sql]) => sql as string);

const analytics = await useAnalytics();

test.each(statements)('%s runs', async (sql) => {
  expect(await analytics.query(sql)).toEqual([]);
});

test('every question has its endpoint there, and every view is one of them', async () => {
  for (const { name } of questions) expect(text).toContain(`\`GET /v1/analytics/${name}\``);
  const views = await analytics.query<{ name: string; comment: string }>(
    "SELECT name, comment FROM system.tables WHERE database = currentDatabase() AND engine = 'View'",
  );
  expect(views.length).toBe(5);
  for (const { name, comment } of views)
    expect([text.includes(`| \`${name}\` |`), comment]).toEqual([true, expect.stringContaining('Parameters')]);
});
