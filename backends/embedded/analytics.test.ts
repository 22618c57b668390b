import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@clickhouse/client';
import { createChdbConnection } from 'chdb/connection';
import { expect, onTestFinished, test } from 'vitest';
import { openChdbAnalytics } from './analytics.js';

const deletion = (name: string): string =>
  `ALTER TABLE people DELETE WHERE name = '${name}' SETTINGS mutations_sync = 2`;

/** Returns the names of files whose path or content has the text. */
const filesWith = (folder: string, text: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => readFileSync(path).includes(text));

async function openWithTable() {
  const path = mkdtempSync(join(tmpdir(), 'fenceline-chdb-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  const analytics = await openChdbAnalytics({ path });
  await analytics.command('CREATE TABLE people (name String) ENGINE = MergeTree ORDER BY name');
  await analytics.command("INSERT INTO people VALUES ('Bert')");
  return { path, analytics };
}

// The engine keeps the last hundred deletions of a table in files. So the folder named who was erased, for as long as
// no others were.
test('regression: no file has the text of a deletion that is done', async () => {
  const { path, analytics } = await openWithTable();
  await analytics.command(deletion('Ada-4711'));
  expect(filesWith(path, 'Ada-4711')).toEqual([]);
  expect(await analytics.query('SELECT name FROM people')).toEqual([{ name: 'Bert' }]);
  await analytics.close();
});

test('the texts that an earlier release or a killed process left are removed at the next start', async () => {
  const { path, analytics } = await openWithTable();
  await analytics.close();
  const engine = createClient({ connection: createChdbConnection({ path }) as never });
  await engine.command({ query: deletion('Ada-4711') });
  await engine.close();
  expect(filesWith(path, 'Ada-4711')).not.toEqual([]);
  const again = await openChdbAnalytics({ path });
  expect(filesWith(path, 'Ada-4711')).toEqual([]);
  await again.close();
});
