/** Cuts and overwrites files that LMDB has written. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openEmbedded } from '../../backends/embedded/embedded.js';
import { topics } from '../../pipeline/ports.js';
import { StartError } from '../failures.js';
import { refuseDamagedFiles } from './damaged-files.js';

let data: string;
const fileOf = (folder: string) => join(data, folder, 'data.mdb');
const folders = ['log', 'state', 'deliveries'];

async function fill(): Promise<void> {
  const embedded = openEmbedded({ path: data, partitions: 1 });
  for (const key of ['first', 'second'])
    await embedded.log.append(topics.locations, [{ key, value: Buffer.alloc(10) }]);
  await embedded.close();
}

beforeEach(async () => {
  data = mkdtempSync(join(tmpdir(), 'fenceline-damaged-files-'));
  await fill();
});
afterEach(() => rmSync(data, { recursive: true, force: true }));

it('takes what LMDB wrote, a new folder and a missing read model', () => {
  refuseDamagedFiles(data);
  refuseDamagedFiles(join(data, 'new'));
});

it.each(folders)('takes an empty file of %s beside an empty log: a first start was interrupted', (folder) => {
  for (const each of folders) if (each !== folder) rmSync(join(data, each), { recursive: true });
  truncateSync(fileOf(folder), 0);
  refuseDamagedFiles(data);
});

// The process ended by SIGSEGV or SIGBUS, and its last line was "opening the data folder".
it.each([
  ['is shorter than a header', (file: string) => truncateSync(file, 100)],
  ['has one header', (file: string) => truncateSync(file, 4_096)],
  ['is overwritten', (file: string) => writeFileSync(file, Buffer.alloc(readFileSync(file).length, 7))],
  [
    'begins with zeros',
    (file: string) => writeFileSync(file, Buffer.concat([Buffer.alloc(8_192), readFileSync(file).subarray(8_192)])),
  ],
])('refuses a file that %s, by its name', (_, damage) => {
  for (const folder of folders) {
    const whole = readFileSync(fileOf(folder));
    damage(fileOf(folder));
    expect(() => refuseDamagedFiles(data)).toThrow(StartError);
    expect(() => refuseDamagedFiles(data)).toThrow(`${fileOf(folder)} is damaged: it does not begin`);
    expect(() => refuseDamagedFiles(data)).toThrow('; restore a backup of the data folder');
    writeFileSync(fileOf(folder), whole);
  }
});

it('refuses a file of which a copy has only the beginning', () => {
  truncateSync(fileOf('log'), 8_192);
  expect(() => refuseDamagedFiles(data)).toThrow(
    `${fileOf('log')} is damaged: it ends after 8192 bytes, before pages that its headers name; restore`,
  );
});

// States began anew, so that every device was new. Queues began anew, so that webhooks got the events of 30 days again.
it.each([
  ['state', 'deliveries'],
  ['deliveries', 'read-model'],
])('refuses a missing %s beside %s', (lost, later) => {
  mkdirSync(join(data, 'read-model'));
  writeFileSync(fileOf('read-model'), readFileSync(fileOf('log')));
  rmSync(join(data, lost), { recursive: true });
  expect(() => refuseDamagedFiles(data)).toThrow(
    `the file ${fileOf(lost)} is missing or empty, and ${join(data, later)} is not: restore a backup`,
  );
});

it('takes the folder of a node of a cluster, which has only a read model', () => {
  mkdirSync(join(data, 'read-model'));
  writeFileSync(fileOf('read-model'), readFileSync(fileOf('log')));
  for (const folder of folders) rmSync(join(data, folder), { recursive: true });
  refuseDamagedFiles(data);
});

it('names the read model as what can be made again', () => {
  mkdirSync(join(data, 'read-model'));
  writeFileSync(fileOf('read-model'), 'text');
  expect(() => refuseDamagedFiles(data)).toThrow('delete the folder read-model, which the next start makes again');
});

// The node began a new log, created a first project, and answered 401 to all keys of before.
it.each([
  ['empty', (file: string) => truncateSync(file, 0)],
  ['missing', (file: string) => rmSync(file)],
])('refuses a log that is %s beside states', (_, remove) => {
  remove(fileOf('log'));
  expect(() => refuseDamagedFiles(data)).toThrow(
    `the file ${fileOf('log')} is missing or empty, and ${join(data, 'state')} is not: restore a backup`,
  );
});
