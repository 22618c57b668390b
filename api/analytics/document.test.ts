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

/** Rows in the examples of docs/analytics.md, by query. Its sections are in the order of the queries. */
const examples = queries.map((query, index) => {
  const section = text.split('\n## ').slice(2)[index] ?? '';
  const [, json = ''] = /```json\n([\s\S]*?)```/.exec(section) ?? [];
  const [first, ...others] = JSON.parse(`[${json}]`) as readonly (object & { readonly rows?: readonly object[] })[];
  return [query, first?.rows ?? [first!, ...others]] as const;
});

test.each(examples)('the example of $name has fields of its rows', ({ row }, rows) => {
  expect(rows.length).toBeGreaterThan(0);
  for (const each of rows) {
    expect(Object.keys(row.properties)).toEqual(expect.arrayContaining(Object.keys(each)));
    expect(Object.keys(each)).toEqual(expect.arrayContaining(row.required ?? []));
  }
});
