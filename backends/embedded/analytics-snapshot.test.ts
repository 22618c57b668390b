import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { freshId } from '../../schemas/ids.js';
import { removeOldSnapshots } from './analytics-snapshot.js';

// The snapshot of a killed backup took space until the next start of the node.
it('removes snapshots that are older than a day, and nothing else', async () => {
  const path = mkdtempSync(join(tmpdir(), 'fenceline-snapshots-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  const nowMs = Date.parse('2026-03-02T12:00:00Z');
  const [old, recent] = [86_460_000, 86_340_000].map((ageMs) => freshId(nowMs - ageMs)) as [string, string];
  for (const id of [old, recent, 'not-a-snapshot']) mkdirSync(join(path, 'shadow', id, 'data'), { recursive: true });
  await removeOldSnapshots(path, nowMs);
  expect(readdirSync(join(path, 'shadow')).sort()).toEqual([recent, 'not-a-snapshot'].sort());
});

it('removes nothing where no backup was made', async () => {
  const path = mkdtempSync(join(tmpdir(), 'fenceline-snapshots-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  await removeOldSnapshots(path, Date.now());
  expect(readdirSync(path)).toEqual([]);
});
