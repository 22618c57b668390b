/**
 * A node starts on a data folder that it can't use: each start ends in one line that names the path and what helps.
 *
 * Most cases need root: for a small disk, and for a file that the program may not open.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createBasemap } from '../../renderer/pool/basemap.js';
import { program } from '../support/program.js';
import { TestServer } from '../support/server.js';

const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
const nobody = 65_534;
const mib = 2 ** 20;

/** A data folder that a node has used. */
let used: string;
let folder: string;
/** Whether the folder is a disk of its own. */
let isDisk = false;
beforeAll(async () => {
  const server = await TestServer.start();
  await server.process.stop();
  used = server.dataFolder;
  onlyFiles(used);
});
afterAll(() => rmSync(used, { recursive: true, force: true }));
afterEach(() => {
  if (isDisk) execFileSync('umount', ['--lazy', folder]);
  isDisk = false;
  rmSync(folder, { recursive: true, force: true });
});

/** The socket that locks a folder can't be copied. */
const onlyFiles = (data: string): void => rmSync(join(data, 'in-use.socket'), { force: true });

interface Ended {
  readonly code: number | null;
  /** What it wrote for people, without its log. */
  readonly lines: readonly string[];
}

/** Runs a program as root, but only with the files that every user with its id may open. */
const withoutPrivileges = ['bounding-set', 'inh-caps'].map((set) => `--${set}=-dac_override,-dac_read_search`);

interface StartOptions {
  readonly minFreeBytes?: number;
  /** Whether permissions of files concern the program, although it runs as root. */
  readonly isBound?: boolean;
  readonly words?: readonly string[];
}

const serve = ['serve', '--port', '0'];

async function startOn(
  data: string,
  { minFreeBytes = mib, isBound = false, words = serve }: StartOptions = {},
): Promise<Ended> {
  const command = [process.execPath, program, ...words, '--data', data];
  const [file, ...args] = isBound ? ['setpriv', ...withoutPrivileges, ...command] : command;
  const child = spawn(file!, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...process.env,
      FENCELINE_STORAGE_MIN_FREE_BYTES: `${minFreeBytes}`,
      FENCELINE_STORAGE_MIN_FREE_PERCENT: '0',
    },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [written, [code]] = await Promise.all([text(child.stderr!), once(child, 'exit')]);
  return { code, lines: written.split('\n').filter((line) => line !== '' && !line.startsWith('{')) };
}

function copyOfUsed(): string {
  folder = mkdtempSync(join(tmpdir(), 'fenceline-unusable-'));
  const data = join(folder, 'data');
  cpSync(used, data, { recursive: true, verbatimSymlinks: true });
  return data;
}

/** Returns a folder that the engine of analytics wrote. */
function partOfAnalytics(data: string): string {
  const part = readdirSync(join(data, 'analytics', 'store'), { recursive: true }).find((name) =>
    /\/all_\d+_\d+_\d+$/.test(`${name}`),
  );
  if (part === undefined) throw new Error('the engine has stored nothing');
  return join('analytics', 'store', `${part}`);
}

describe.skipIf(!isRoot)('a file of another user', () => {
  // LMDB ended the process by SIGSEGV when it could not write lock.mdb. The engine of analytics printed a stack.
  it.each([
    ['that locks LMDB', () => join('log', 'lock.mdb')],
    ['of LMDB', () => join('state', 'data.mdb')],
    ['of analytics', partOfAnalytics],
    ['with the encryption key', () => 'encryption-key'],
  ])('%s ends the start in a line that names it', async (_, name) => {
    const data = copyOfUsed();
    const path = join(data, name(data));
    chownSync(path, nobody, nobody);
    chmodSync(path, 0o700);
    expect(await startOn(data, { isBound: true })).toEqual({
      code: 1,
      lines: [
        `fenceline: the data folder ${data} can't be used: ${path}: it belongs to another user; ` +
          'run Fenceline as that user, or change the owner of the whole data folder with chown -R',
      ],
    });
  });
});

// The message of a backup was that the folder is not one of Fenceline. Without its files, LMDB printed a stack.
it.skipIf(!isRoot)('a backup by another user ends in a line that names what it may not open', async () => {
  const data = copyOfUsed();
  const backedUp = () => startOn(data, { isBound: true, words: ['backup', join(folder, 'backup')] });
  const reason = 'it belongs to another user; run Fenceline as that user';
  chownSync(data, nobody, nobody);
  expect((await backedUp()).lines).toEqual([expect.stringContaining(`data folder ${data} can't be used: ${reason}`)]);
  chownSync(data, 0, 0);
  chownSync(join(data, 'state'), nobody, nobody);
  chmodSync(join(data, 'state'), 0o700);
  expect((await backedUp()).lines).toEqual([expect.stringContaining(`${join(data, 'state')}: ${reason}`)]);
  expect(readdirSync(folder)).toEqual(['data']);
});

// Fenceline took the codes of LMDB for those of the system, and printed the stack of its own mistake.
it.each([
  ['log', 'restore a backup of the data folder'],
  ['state', 'restore a backup of the data folder'],
  ['deliveries', 'restore a backup of the data folder'],
  ['read-model', 'delete the folder read-model, which the next start makes again'],
])('a file of %s with zeros after its headers ends the start in a line that names the folder', async (name, remedy) => {
  const data = copyOfUsed();
  const file = join(data, name, 'data.mdb');
  const content = readFileSync(file);
  content.fill(0, 2 * content.readUInt32LE(48));
  writeFileSync(file, content);
  const { code, lines } = await startOn(data);
  // LMDB writes a line of its own before.
  expect([code, lines.at(-1)]).toEqual([
    1,
    `fenceline: the data folder ${data} can't be used: ${join(data, name)}: a file of LMDB is damaged; ${remedy}`,
  ]);
});

describe.skipIf(!isRoot)('a disk', () => {
  /** Mounts a disk of this size, which is unmounted after the test. */
  function mounted(size: string): string {
    folder = mkdtempSync(join(tmpdir(), 'fenceline-unusable-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]);
    isDisk = true;
    return join(folder, 'data');
  }

  it('that is read-only ends the start in one line', async () => {
    const data = mounted('200m');
    cpSync(used, data, { recursive: true, verbatimSymlinks: true });
    execFileSync('mount', ['-o', 'remount,ro', folder]);
    const { code, lines } = await startOn(data);
    expect([code, lines[0]?.replace(/ \S+\/lock-\w+:/, '')]).toEqual([
      1,
      `fenceline: the data folder ${data} can't be used: its disk is read-only; mount the disk for writing`,
    ]);
    // The stack of the lock.
    const backedUp = await startOn(data, { words: ['backup', join(tmpdir(), 'fenceline-of-read-only')] });
    expect(backedUp.lines).toEqual([expect.stringContaining("can't be used: its disk is read-only; mount the disk")]);
  });

  // LMDB and the engine of analytics printed their stacks.
  it.each(['64k', '1m'])('of %s ends a first start in one line, and nothing is left', async (size) => {
    const data = mounted(size);
    const { code, lines } = await startOn(data, { minFreeBytes: 512 * mib });
    expect([code, lines.length]).toEqual([1, 1]);
    expect(lines[0]).toMatch(
      /^fenceline: the data folder \S+ can't be used: its disk has \d MiB free, and a first start /,
    );
    expect(lines[0]).toMatch(
      /needs 512 MiB; free space, name a folder on a larger disk, or lower storage.minFreeBytes$/,
    );
    expect(readdirSync(data)).toEqual(['in-use.socket']);
  });

  it('that is full when analytics are prepared ends the start in one line', async () => {
    const data = mounted('1100k');
    const { code, lines } = await startOn(data);
    expect([code, lines.length]).toEqual([1, 1]);
    expect(lines[0]).toBe(
      `fenceline: the data folder ${data} can't be used: ${data}/analytics: its disk is full; free space on the disk`,
    );
  });
});

describe('analytics', () => {
  // The stack of the engine followed its own line.
  it('that the engine cannot open end the start in a line that says what helps', async () => {
    const data = copyOfUsed();
    rmSync(join(data, 'analytics', 'store'), { recursive: true });
    writeFileSync(join(data, 'analytics', 'store'), '');
    const { code, lines } = await startOn(data);
    expect(code).toBe(1);
    expect(lines.at(-1)).toContain(`can't be used: ${join(data, 'analytics')}: the analytics engine can't open it (`);
    expect(lines.at(-1)).toContain('; restore a backup, or move this folder away to go on with an empty history');
    expect(lines.filter((line) => /^\s+at /.test(line))).toEqual([]);
  });
});

// Its process printed a stack, and the log of the node had only the status of the process.
it('a folder for the basemap that is a file is named in the log, with the reason', async () => {
  folder = mkdtempSync(join(tmpdir(), 'fenceline-unusable-'));
  const file = join(folder, 'basemap');
  writeFileSync(file, '');
  const problems: string[] = [];
  const module = pathToFileURL(join(dirname(program), '..', 'renderer', 'basemap', 'baking-process.js'));
  const basemap = createBasemap({ module, folder: file, timeoutMs: 60_000, onProblem: (each) => problems.push(each) });
  await expect(basemap.ready()).rejects.toMatchObject({ code: 'unavailable' });
  await basemap.close();
  expect(problems).toEqual([`the basemap could not be baked into ${file}: it exists already`]);
});
