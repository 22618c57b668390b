/** Runs the SQL statements of docs/analytics.md as they are written. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { useAnalytics } from '../testing/fixtures.js';
import { queries } from './routes.js';

const text = readFileSync(new URL('../../docs/analytics.md', import.meta.url), 'utf8');
const statements = [...text.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, sql]) => sql as string);

const analytics = await useAnalytics();

test.each(statements)('%s runs', async (sql) => {
  expect(await analytics.query(sql)).toEqual([]);
});

test('docs/analytics.md lists the endpoint of every query, and every view', async () => {
  for (const { name } of queries) expect(text).toContain(`\`GET /v1/analytics/${name}\``);
  const views = await analytics.query<{ name: string; comment: string }>(
    "SELECT name, comment FROM system.tables WHERE database = currentDatabase() AND engine = 'View'",
  );
  expect(views.length).toBe(5);
  for (const { name, comment } of views)
    expect([new RegExp(`\\| \`${name}\` +\\|`).test(text), comment]).toEqual([
      true,
      expect.stringContaining('Parameters'),
    ]);
});
