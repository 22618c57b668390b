import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { isLocked, lockFolder } from './lock.js';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fenceline-lock-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

// Both found that nobody answered, removed the file, and listened: two nodes wrote to one folder.
test('of processes that start at the same moment at most one gets the lock', async () => {
  const attempts = await Promise.allSettled(Array.from({ length: 5 }, () => lockFolder(folder)));
  expect(attempts.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(1);
});

test('files of processes that ended are replaced, and a held lock is refused', async () => {
  for (const name of ['in-use.socket', 'lock-abcdef']) writeFileSync(join(folder, name), '');
  expect(await isLocked(folder)).toBe(false);
  await lockFolder(folder);
  expect(await isLocked(folder)).toBe(true);
  await expect(lockFolder(folder)).rejects.toThrow('another process is using the data folder');
  expect(readdirSync(folder)).toEqual(['in-use.socket']);
});
