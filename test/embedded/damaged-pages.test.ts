/**
 * Damage beyond the beginning of an LMDB file: `fenceline doctor --read-data` names the folder, and a start that meets
 * it ends in one line.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { openEmbedded } from '../../backends/embedded/embedded.js';
import { program } from '../support/program.js';
import { TestServer } from '../support/server.js';

const pageBytes = 4_096;

/** A data folder that a node has used. */
let used: string;
beforeAll(async () => {
  const server = await TestServer.start();
  await server.process.stop();
  used = server.dataFolder;
  rmSync(join(used, 'in-use.socket'), { force: true });
  const backend = openEmbedded({ path: used, partitions: 4 });
  const value = Buffer.alloc(3_000, 'a');
  for (let number = 0; number < 20; number++) await backend.log.append('attempts', [{ key: `${number}`, value }]);
  await backend.close();
});
afterAll(() => rmSync(used, { recursive: true, force: true }));

function copyOfUsed(): string {
  const data = mkdtempSync(join(tmpdir(), 'fenceline-damaged-pages-'));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  cpSync(used, data, { recursive: true, verbatimSymlinks: true });
  return data;
}

const run = (...words: string[]): Promise<{ readonly status: number; readonly text: string }> =>
  new Promise((resolve) =>
    execFile(
      process.execPath,
      [program, ...words],
      { timeout: 240_000, killSignal: 'SIGKILL' },
      (error, stdout, stderr) => resolve({ status: error === null ? 0 : Number(error.code), text: stdout + stderr }),
    ),
  );

interface Finding {
  readonly level: string;
  readonly subject: string;
  readonly text: string;
  readonly remedy: string;
}

/** Runs the doctor. Returns what it says of the stored data, by folder. */
async function findingsOn(data: string) {
  const { status, text } = await run('doctor', '--read-data', '--json', '--data', data);
  const findings = text.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Finding] : []));
  const about = (name: string) =>
    findings.find((each) => each.subject === 'stored data' && each.text.startsWith(join(data, name)));
  return { status, about };
}

/** Zeroes the pages of a file after its two headers that hold the pattern. */
function zeroPages(file: string, pattern: string): void {
  const bytes = readFileSync(file);
  for (let start = 2 * pageBytes; start < bytes.length; start += pageBytes) {
    if (bytes.includes(pattern, start) && bytes.indexOf(pattern, start) < start + pageBytes)
      bytes.fill(0, start, start + pageBytes);
  }
  writeFileSync(file, bytes);
}

/** Cuts the blocks of topic `changes` after their headers. */
async function cutChanges(data: string): Promise<void> {
  const root = open({ path: join(data, 'log'), noSubdir: false, maxDbs: 32 });
  const table = root.openDB<Buffer, Buffer>('topic:changes', { keyEncoding: 'binary', encoding: 'binary' });
  for (const { key, value } of [...table.getRange({})])
    if (value.length > 20) await table.put(key, value.subarray(0, 14));
  await root.close();
}

it('the doctor reads an intact folder to its end', async () => {
  const { about } = await findingsOn(used);
  for (const name of ['log', 'state', 'deliveries', 'read-model'])
    expect(about(name)).toMatchObject({
      level: 'ok',
      text: expect.stringMatching(/was read to its end, with \d+ values/),
    });
});

it('the doctor names a folder with damaged pages, whether LMDB reports them or ends the process', async () => {
  const data = copyOfUsed();
  zeroPages(join(data, 'log', 'data.mdb'), 'topic:attempts');
  const { status, about } = await findingsOn(data);
  expect(status).toBe(1);
  expect(about('log')).toMatchObject({
    level: 'failure',
    text: expect.stringContaining("can't be read to its end"),
    remedy: 'Stop the node, and restore a backup of the data folder. Check the disk.',
  });
  expect(about('state')).toMatchObject({ level: 'ok' });
});

// It printed the stack of a RangeError, without the folder and without what helps.
it('a start that reads a damaged block ends in one line, and the doctor finds the block', async () => {
  const data = copyOfUsed();
  await cutChanges(data);
  rmSync(join(data, 'read-model'), { recursive: true });
  const { status, text } = await run('serve', '--port', '0', '--data', data);
  expect(status).toBe(1);
  expect(text.split('\n').filter((line) => line.startsWith('fenceline'))).toEqual([
    `fenceline: the data folder ${data} can't be used: ${join(data, 'log')}: a file of LMDB is damaged; ` +
      'restore a backup of the data folder',
  ]);
  expect(text).not.toContain('    at ');
  expect((await findingsOn(data)).about('log')).toMatchObject({
    level: 'failure',
    text: expect.stringContaining('a stored block is damaged'),
  });
});
