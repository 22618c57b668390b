/** A reader of a folder that others write sees its content, and leaves no trace in the data. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Topic } from '../../pipeline/ports.js';
import { openEmbedded } from './embedded.js';
import { hasLog, openLogReader, type ReadableLog } from './reader.js';

let path = '';
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'fenceline-reader-'));
});
afterEach(() => rmSync(path, { recursive: true }));

const readTopics = ['locations', 'events', 'changes'] as const;
const record = (key: string) => ({ key, value: Buffer.from(`value of ${key}`) });
const keys = Array.from({ length: 200 }, (_, index) => `key ${index}`);

async function contents(log: ReadableLog, topic: Topic): Promise<object[]> {
  const partitions = Array.from({ length: log.partitions(topic) }, async (_, partition) => {
    const { first, end } = await log.bounds(topic, partition);
    const { records } = await log.read(topic, partition, first, end - first);
    return { first, end, records: records.map(({ value, ...rest }) => ({ ...rest, value: value?.toString() })) };
  });
  return Promise.all(partitions);
}
const all = async (log: ReadableLog) => Promise.all(readTopics.map((topic) => contents(log, topic)));

const dataDigests = (): string[] =>
  ['log', 'state'].map((name) =>
    createHash('sha256')
      .update(readFileSync(join(path, name, 'data.mdb')))
      .digest('hex'),
  );

test('reads all records for any number of partitions, and changes no data', async () => {
  const embedded = openEmbedded({ path, partitions: 3 });
  for (const topic of readTopics) await embedded.log.append(topic, keys.map(record));
  const written = await all(embedded.log);
  await embedded.close();
  const digests = dataDigests();

  const reader = await openLogReader(path);
  expect(await all(reader)).toEqual(written);
  await reader.close();
  expect(dataDigests()).toEqual(digests);
});

test('a folder without a log is detected, and nothing is created in it', async () => {
  expect(hasLog(path)).toBe(false);
  mkdirSync(join(path, 'log'));
  expect(hasLog(path)).toBe(false);
  await expect(openLogReader(path)).rejects.toThrow();
});
