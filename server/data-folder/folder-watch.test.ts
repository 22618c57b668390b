/** A node watches its data folder, with real environments and real processes that read them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  cpSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Embedded, openEmbedded } from '../../backends/embedded/embedded.js';
import { createSpace, refuseWhenFull } from '../../backends/embedded/space.js';
import { StartError } from '../failures.js';
import { watchFolder } from './folder-watch.js';
import { lockFolder } from './lock.js';

const silent = { warn: () => {} };

async function openedFolder(): Promise<{ readonly data: string; readonly backend: Embedded }> {
  const data = mkdtempSync(join(tmpdir(), 'fenceline-folder-watch-'));
  await lockFolder(data);
  const backend = openEmbedded({ path: data, partitions: 1 });
  onTestFinished(async () => {
    await backend.close();
    rmSync(data, { recursive: true, force: true });
  });
  return { data, backend };
}

/** Reads like a backup: in one transaction, which lasts as long as the process. */
const readerProgram = `
  import { open } from 'lmdb';
  const root = open({ path: process.argv[1], noSubdir: false, maxDbs: 32, readOnly: true });
  const table = root.openDB('topic:events', { keyEncoding: 'binary', encoding: 'binary' });
  const read = table.getRange({})[Symbol.iterator]();
  read.next();
  console.log('reading');
  setInterval(() => read, 1_000);
`;

async function startReader(folder: string): Promise<ChildProcess> {
  const reader = spawn(process.execPath, ['--input-type=module', '--eval', readerProgram, folder]);
  onTestFinished(() => void reader.kill('SIGKILL'));
  await once(reader.stdout, 'data');
  return reader;
}

// A backup was killed with SIGKILL. Its entry in LMDB's table of readers stayed, no page was reused from then on, and
// state/data.mdb grew from 17 to 169 MB in eight seconds, until a restart.
test('a reader that was killed does not let the file grow', async () => {
  const { data, backend } = await openedFolder();
  const overwrite = async (times: number): Promise<number> => {
    // One key, so that each write frees the page of the value before.
    for (let time = 0; time < times; time++)
      await backend.positions.set('test', 'events', 0, { offset: time, mark: null });
    return statSync(join(data, 'state', 'data.mdb')).size;
  };
  await backend.log.append('events', [{ key: 'a', value: Buffer.from('b') }]);
  await overwrite(100);
  const reader = await startReader(join(data, 'state'));
  reader.kill('SIGKILL');
  await once(reader, 'exit');

  const warned: object[] = [];
  const logger = { warn: (details: object) => void warned.push(details) } as never;
  const watch = await watchFolder({ data, environments: backend.environments, space: createSpace(), logger });
  onTestFinished(() => watch.stop());
  await expect.poll(() => warned).toEqual([{ data, cleared: 1 }]);
  const before = await overwrite(20);
  expect(await overwrite(300)).toBeLessThan(2 * before);
});

// Without the analytics engine, a node whose folder was deleted acknowledged every location into files without a name.
// A check that is under way meanwhile sees only some of the files change.
test.each([
  ['the folder was moved', (data: string) => renameSync(data, `${data}-moved`), /\((in-use.socket|\w+\/data.mdb)/],
  ['a file was deleted', (data: string) => rmSync(join(data, 'log', 'data.mdb')), /\(log\/data.mdb\)/],
  ['the folder was replaced by a copy', replaceByCopy, /\((in-use.socket|\w+\/data.mdb)/],
  ['another process took the lock', (data: string) => lockedAgain(data), /\(in-use.socket\)/],
])('writes are refused and the node ends when %s', async (_, lose, files) => {
  const { data, backend } = await openedFolder();
  const space = createSpace();
  const watch = await watchFolder({ data, environments: backend.environments, space, logger: silent });
  onTestFinished(() => rmSync(`${data}-moved`, { recursive: true, force: true }));
  refuseWhenFull(space);
  await lose(data);
  await expect(watch.done).rejects.toThrow(StartError);
  await expect(watch.done).rejects.toThrow(files);
  expect(() => refuseWhenFull(space)).toThrow();
});

function replaceByCopy(data: string): void {
  renameSync(data, `${data}-moved`);
  for (const name of ['log', 'state', 'deliveries'])
    cpSync(join(`${data}-moved`, name), join(data, name), { recursive: true });
}

async function lockedAgain(data: string): Promise<void> {
  rmSync(join(data, 'in-use.socket'));
  await lockFolder(data);
}

/** Lets every write of LMDB's first page fail as on a full disk: its descriptor becomes that of a full device. */
function failFirstPage(file: string): void {
  const isOpen = (descriptor: string): boolean => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`) === file;
    } catch {
      return false;
    }
  };
  // LMDB opens the file a second time for that page.
  const descriptor = Math.max(...readdirSync('/proc/self/fd').filter(isOpen).map(Number));
  closeSync(descriptor);
  expect(openSync('/dev/full', 'r+')).toBe(descriptor);
}

// On a file system that writes each page to a new place, a full disk also refuses the page that makes a commit visible.
// LMDB stops for good then, and its transactions never settle: the node stood still, and did not end.
test('the node ends when LMDB has stopped', async () => {
  const { data, backend } = await openedFolder();
  await backend.log.append('locations', [{ key: 'a', value: Buffer.from('b') }]);
  failFirstPage(join(data, 'log', 'data.mdb'));
  const space = createSpace();
  const watch = await watchFolder({ data, environments: backend.environments, space, logger: silent });
  await expect(backend.log.append('locations', [{ key: 'a', value: Buffer.from('c') }])).rejects.toThrow('full');
  await expect(watch.done).rejects.toThrow(StartError);
  await expect(watch.done).rejects.toThrow(/log can no longer be used \(.*MDB_PANIC/);
  expect(space.level).toBe('out');
});
