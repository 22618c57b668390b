import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestAnalytics } from '../testing/analytics.js';
import { onCluster, shardedBy } from './on-cluster.js';

const folder = new URL('../../../schemas/clickhouse/', import.meta.url);
const statements = readdirSync(folder).map((name) => ({ name, sql: readFileSync(new URL(name, folder), 'utf8') }));
const cluster = { name: 'c', database: 'd' };

const plain = (sql: string): string =>
  sql
    .replace(" ON CLUSTER 'c'", '')
    .replace('_local', '')
    .replaceAll(/(?<=(FROM|JOIN) )`d`\./g, '')
    .replace(/ReplicatedReplacingMergeTree\('[^']*', '\{replica\}'(, )?/, 'ReplacingMergeTree(')
    .replace('MergeTree()', 'MergeTree');

test.each(statements)('$name differs on a cluster only in its location', ({ sql }) => {
  const [first, ...others] = onCluster(sql, cluster);
  expect(plain(first as string)).toBe(sql);
  expect(others).toHaveLength(sql.includes('CREATE TABLE') ? 1 : 0);
  for (const each of [first, ...others]) expect(each).toContain(" ON CLUSTER 'c'");
});

test('a table becomes a replicated table per shard and a distributed table', () => {
  const table = `-- About users.
CREATE TABLE IF NOT EXISTS users
(
    user       String COMMENT '_id (of the user)',
    updated_at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(updated_at)
ORDER BY user
SETTINGS fsync_after_insert = 1`;
  expect(onCluster(table, cluster)).toEqual([
    `-- About users.
CREATE TABLE IF NOT EXISTS users_local ON CLUSTER 'c'
(
    user       String COMMENT '_id (of the user)',
    updated_at DateTime64(3, 'UTC')
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/d/users_local', '{replica}', updated_at)
ORDER BY user
SETTINGS fsync_after_insert = 1`,
    "CREATE TABLE IF NOT EXISTS users ON CLUSTER 'c' AS `d`.users_local " +
      "ENGINE = Distributed('c', 'd', 'users_local', sipHash64(user))",
  ]);
});

describe('ClickHouse', () => {
  let analytics: Awaited<ReturnType<typeof openTestAnalytics>>;
  beforeAll(async () => {
    analytics = await openTestAnalytics();
  });
  afterAll(() => analytics.close());

  test.each(statements)('parses the statements of $name', async ({ sql }) => {
    for (const statement of onCluster(sql, cluster)) {
      const [row] = await analytics.query<{ read: string }>('SELECT formatQuery({statement:String}) AS read', {
        statement,
      });
      expect(row?.read).toMatch(/^CREATE (TABLE IF NOT EXISTS|OR REPLACE VIEW) \w+ ON CLUSTER c\b/);
    }
  });
});

test('quotes names', () => {
  const [view] = onCluster('CREATE OR REPLACE VIEW v AS SELECT 1 FROM users', { name: "it's", database: 'd`' });
  expect(view).toBe("CREATE OR REPLACE VIEW v ON CLUSTER 'it\\'s' AS SELECT 1 FROM `d\\``.users");
});

// Regression: servers ran `AS events_local` in their own default database: "Table default.events_local doesn't exist".
test.each(statements)('$name qualifies every table with its database', ({ sql }) => {
  for (const statement of onCluster(sql, cluster))
    expect(statement).not.toMatch(/\b(FROM|JOIN|AS) (\w+_local|\w+ FINAL|events|users)\b/);
});

describe('rows that belong together are on one shard:', () => {
  const tables = statements.filter(({ sql }) => sql.includes('CREATE TABLE'));
  const tableOf = (sql: string): string => /CREATE TABLE IF NOT EXISTS (\w+)/.exec(sql)?.[1] as string;
  // All rows of an event are equal, so they have the same user.
  const byMoreThanTheKey = ['events'];

  test.each(tables)('$name: rows that replace each other', ({ sql }) => {
    const key = /ORDER BY \((.*)\)/.exec(sql)?.[1]?.split(', ');
    const column = shardedBy[tableOf(sql)];
    if (byMoreThanTheKey.includes(tableOf(sql))) expect(sql).toMatch(new RegExp(`^ +${column} `, 'm'));
    else expect(key).toContain(column);
  });

  const windows = statements.flatMap(({ sql }) =>
    [...sql.matchAll(/PARTITION BY ([\w, ]+)\n/g)].filter(() => sql.includes('VIEW')),
  );
  test('rows that views join', () => {
    expect(windows).toHaveLength(2);
    for (const [, columns] of windows) expect(columns!.split(', ')).toContain(shardedBy.events);
  });
});

test.each([
  'DROP TABLE events',
  'ALTER TABLE events ADD COLUMN a String',
  'CREATE TABLE events (a String) ENGINE = ReplacingMergeTree ORDER BY a',
  'CREATE TABLE IF NOT EXISTS events (a String) ENGINE = MergeTree ORDER BY a',
  'CREATE TABLE IF NOT EXISTS events AS users ENGINE = ReplacingMergeTree ORDER BY a',
  'CREATE TABLE IF NOT EXISTS unheard_of (a String) ENGINE = ReplacingMergeTree ORDER BY a',
  'CREATE VIEW v AS SELECT 1',
  'CREATE MATERIALIZED VIEW v ENGINE = Memory AS SELECT 1',
  "INSERT INTO events (a) VALUES ('CREATE OR REPLACE VIEW v AS SELECT 1')",
])('%s is refused', (sql) => {
  expect(() => onCluster(sql, cluster)).toThrow(`cannot run this statement on a cluster: ${sql}`);
});
