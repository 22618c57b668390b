import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createSpace } from '../../backends/embedded/space.js';
import { projectA, projectRecord } from '../../pipeline/catalog/testing/fixtures.js';
import { loadConfiguration } from '../config/load.js';
import { discardOldReadModel, discardOtherFormat, maxReadModelAgeMs, openNodeReadModel } from './folders.js';

const storedProject = { kind: 'project', id: projectA, record: projectRecord() } as const;

function configurationOf(data: string) {
  const loaded = loadConfiguration({ environment: { FENCELINE_DATA: data }, flags: {} });
  if (!loaded.ok) throw new Error(loaded.problems.join());
  return loaded.configuration;
}

test('a read model with another or no format is rebuilt, and one of this release is kept', async () => {
  const data = mkdtempSync(join(tmpdir(), 'fenceline-folders-'));
  onTestFinished(() => rmSync(data, { recursive: true }));
  const configuration = configurationOf(data);
  const offsetOfNext = async () => {
    discardOtherFormat(configuration);
    const readModel = openNodeReadModel(configuration, createSpace());
    const { nextOffset } = readModel;
    await readModel.apply([storedProject], 1);
    await readModel.close();
    return nextOffset;
  };
  expect(await offsetOfNext()).toBe(0);
  expect(await offsetOfNext()).toBe(1);
  writeFileSync(join(data, 'read-model', 'format'), '1');
  expect(await offsetOfNext()).toBe(0);
  rmSync(join(data, 'read-model', 'format'));
  expect(await offsetOfNext()).toBe(0);
});

test('a read model that was unused for long is rebuilt, and a recent one is kept', async () => {
  const data = mkdtempSync(join(tmpdir(), 'fenceline-folders-'));
  onTestFinished(() => rmSync(data, { recursive: true }));
  const configuration = configurationOf(data);
  const nowMs = Date.now();
  discardOldReadModel(configuration, nowMs);
  const readModel = openNodeReadModel(configuration, createSpace());
  await readModel.apply([storedProject], 1);
  await readModel.close();

  const folder = join(data, 'read-model');
  const writtenAt = (ms: number) => {
    for (const name of readdirSync(folder)) utimesSync(join(folder, name), ms / 1_000, ms / 1_000);
  };
  writtenAt(nowMs - maxReadModelAgeMs + 60_000);
  discardOldReadModel(configuration, nowMs);
  const kept = openNodeReadModel(configuration, createSpace());
  expect(kept.project(projectA)).toBeDefined();
  await kept.close();

  writtenAt(nowMs - maxReadModelAgeMs - 60_000);
  discardOldReadModel(configuration, nowMs);
  expect(existsSync(folder)).toBe(false);
  const anew = openNodeReadModel(configuration, createSpace());
  expect([anew.nextOffset, anew.project(projectA)]).toEqual([0, undefined]);
  await anew.close();
});
