import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createSpace } from '../../backends/embedded/space.js';
import { projectA, projectRecord } from '../../pipeline/catalog/testing/fixtures.js';
import { loadConfiguration } from '../config/load.js';
import { discardOtherFormat, openNodeReadModel } from './folders.js';

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
