import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { projectA, projectRecord } from '../../pipeline/catalog/fixtures.js';
import { loadConfiguration } from '../config/load.js';
import { discardOldView, maxViewAgeMs, openNodeView } from './folders.js';

test('a view that nobody had open for long is made anew, another is kept', async () => {
  const data = mkdtempSync(join(tmpdir(), 'fenceline-folders-'));
  onTestFinished(() => rmSync(data, { recursive: true }));
  const loaded = loadConfiguration({ environment: { FENCELINE_DATA: data }, flags: {} });
  if (!loaded.ok) throw new Error(loaded.problems.join());
  const { configuration } = loaded;
  const nowMs = Date.now();
  discardOldView(configuration, nowMs);
  const view = openNodeView(configuration);
  await view.apply([{ kind: 'project', id: projectA, record: projectRecord() }], 1);
  await view.close();

  const folder = join(data, 'view');
  const writtenAt = (ms: number) => {
    for (const name of readdirSync(folder)) utimesSync(join(folder, name), ms / 1_000, ms / 1_000);
  };
  writtenAt(nowMs - maxViewAgeMs + 60_000);
  discardOldView(configuration, nowMs);
  const kept = openNodeView(configuration);
  expect(kept.project(projectA)).toBeDefined();
  await kept.close();

  writtenAt(nowMs - maxViewAgeMs - 60_000);
  discardOldView(configuration, nowMs);
  expect(existsSync(folder)).toBe(false);
  const anew = openNodeView(configuration);
  expect([anew.nextOffset, anew.project(projectA)]).toEqual([0, undefined]);
  await anew.close();
});
