import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createSpace } from '../../backends/embedded/space.js';
import { projectA, projectRecord } from '../../pipeline/catalog/testing/fixtures.js';
import { loadConfiguration } from '../config/load.js';
import { discardOldView, discardOtherFormat, maxViewAgeMs, openNodeView } from './folders.js';

const storedProject = { kind: 'project', id: projectA, record: projectRecord() } as const;

function configurationOf(data: string) {
  const loaded = loadConfiguration({ environment: { FENCELINE_DATA: data }, flags: {} });
  if (!loaded.ok) throw new Error(loaded.problems.join());
  return loaded.configuration;
}

test('a view of another release, whose format is another or not marked, is made anew; one of this release is kept', async () => {
  const data = mkdtempSync(join(tmpdir(), 'fenceline-folders-'));
  onTestFinished(() => rmSync(data, { recursive: true }));
  const configuration = configurationOf(data);
  const offsetOfNext = async () => {
    discardOtherFormat(configuration);
    const view = openNodeView(configuration, createSpace());
    const { nextOffset } = view;
    await view.apply([storedProject], 1);
    await view.close();
    return nextOffset;
  };
  expect(await offsetOfNext()).toBe(0);
  expect(await offsetOfNext()).toBe(1);
  writeFileSync(join(data, 'view', 'format'), '1');
  expect(await offsetOfNext()).toBe(0);
  rmSync(join(data, 'view', 'format'));
  expect(await offsetOfNext()).toBe(0);
});

test('a view that nobody had open for long is made anew, another is kept', async () => {
  const data = mkdtempSync(join(tmpdir(), 'fenceline-folders-'));
  onTestFinished(() => rmSync(data, { recursive: true }));
  const configuration = configurationOf(data);
  const nowMs = Date.now();
  discardOldView(configuration, nowMs);
  const view = openNodeView(configuration, createSpace());
  await view.apply([storedProject], 1);
  await view.close();

  const folder = join(data, 'view');
  const writtenAt = (ms: number) => {
    for (const name of readdirSync(folder)) utimesSync(join(folder, name), ms / 1_000, ms / 1_000);
  };
  writtenAt(nowMs - maxViewAgeMs + 60_000);
  discardOldView(configuration, nowMs);
  const kept = openNodeView(configuration, createSpace());
  expect(kept.project(projectA)).toBeDefined();
  await kept.close();

  writtenAt(nowMs - maxViewAgeMs - 60_000);
  discardOldView(configuration, nowMs);
  expect(existsSync(folder)).toBe(false);
  const anew = openNodeView(configuration, createSpace());
  expect([anew.nextOffset, anew.project(projectA)]).toEqual([0, undefined]);
  await anew.close();
});
