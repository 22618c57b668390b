import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { createSpace } from '../../backends/embedded/space.js';
import { projectA, projectRecord } from '../../pipeline/catalog/testing/fixtures.js';
import { loadConfiguration } from '../config/load.js';
import type { Configuration } from '../config/schema.js';
import { maxReadModelAgeMs, prepareReadModel } from './cluster-read-model.js';
import { openNodeReadModel } from './folders.js';

const storedProject = { kind: 'project', id: projectA, record: projectRecord() } as const;
const own = 'Ckafka/fenceline.changes';
const nowMs = Date.now();

let configuration: Configuration;
let folder: string;

beforeEach(() => {
  const data = mkdtempSync(join(tmpdir(), 'fenceline-cluster-read-model-'));
  onTestFinished(() => rmSync(data, { recursive: true }));
  const loaded = loadConfiguration({ environment: { FENCELINE_DATA: data }, flags: {} });
  if (!loaded.ok) throw new Error(loaded.problems.join());
  configuration = loaded.configuration;
  folder = join(data, 'read-model');
});

/** Starts as a node does, and stores a project. Returns whether it was there before, and what was logged. */
async function start({ changesId = own } = {}) {
  const reasons: string[] = [];
  const warn = ({ reason }: { reason: string }) => void reasons.push(reason);
  prepareReadModel(configuration, { changesId, nowMs }, { warn } as never);
  const readModel = openNodeReadModel(configuration, createSpace());
  const isKept = readModel.project(projectA) !== undefined;
  await readModel.apply([storedProject], 1);
  await readModel.close();
  return { isKept, reasons };
}

const anew = { isKept: false, reasons: [] };
const kept = { isKept: true, reasons: [] };

test('a first start logs nothing, also on what an interrupted one left', async () => {
  mkdirSync(folder);
  writeFileSync(join(folder, 'made-from'), 'Dkafka/fenceline.changes');
  expect(await start()).toEqual(anew);
  expect(await start()).toEqual(kept);
});

test('a read model that was unused for long is made again, and a recent one is kept', async () => {
  await start();
  const usedAt = (ms: number) => {
    for (const name of readdirSync(folder)) utimesSync(join(folder, name), ms / 1_000, ms / 1_000);
  };
  usedAt(nowMs - maxReadModelAgeMs + 60_000);
  expect(await start()).toEqual(kept);
  usedAt(nowMs - maxReadModelAgeMs - 60_000);
  expect(await start()).toEqual({ isKept: false, reasons: ['it was not used for more than 15 days'] });
  expect(await start()).toEqual(kept);
});

// A node accepted the keys of the cluster that its folder came from, where compaction left no record to compare.
test('a read model of the same topic in another cluster, or of another topic, is made again', async () => {
  await start();
  for (const [before, changesId] of [
    [own, 'Dkafka/fenceline.changes'],
    ['Dkafka/fenceline.changes', 'Dkafka/trial.changes'],
  ]) {
    expect(await start({ changesId })).toEqual({
      isKept: false,
      reasons: [`it is of another cluster: made from ${before}, not ${changesId}`],
    });
    expect(await start({ changesId })).toEqual(kept);
  }
});

test('a read model of a release that noted no topic is kept, and belongs to the topic from then on', async () => {
  await start();
  rmSync(join(folder, 'made-from'));
  expect(await start()).toEqual(kept);
  expect((await start({ changesId: 'Dkafka/fenceline.changes' })).isKept).toBe(false);
});

test('a read model of an embedded node is made again once', async () => {
  await start();
  rmSync(join(folder, 'made-from'));
  mkdirSync(join(folder, '..', 'log'));
  expect(await start()).toEqual({ isKept: false, reasons: ['it is of an embedded node'] });
  expect(await start()).toEqual(kept);
});

// The node ended by SIGBUS or SIGSEGV at each start.
test.each([
  ['overwritten', (file: string) => writeFileSync(file, Buffer.alloc(readFileSync(file).length, 7))],
  ['cut', (file: string) => truncateSync(file, 4_096)],
])('a read model that was %s is made again', async (_, damage) => {
  await start();
  damage(join(folder, 'data.mdb'));
  const reasons = ['it is damaged: it does not begin with two headers of LMDB'];
  expect(await start()).toEqual({ isKept: false, reasons });
  expect(await start()).toEqual(kept);
});
