/** A node watches its data folder, with real environments and real processes that read them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Embedded, openEmbedded } from '../../backends/embedded/embedded.js';
import { watchFolder } from './folder-watch.js';

function openedFolder(): { readonly data: string; readonly backend: Embedded } {
  const data = mkdtempSync(join(tmpdir(), 'fenceline-folder-watch-'));
  const backend = openEmbedded({ path: data, partitions: 1 });
  onTestFinished(async () => {
    await backend.close();
    rmSync(data, { recursive: true });
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
  const { data, backend } = openedFolder();
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
  const watch = watchFolder({ data, backend, logger });
  onTestFinished(() => watch.stop());
  await expect.poll(() => warned).toEqual([{ data, cleared: 1 }]);
  const before = await overwrite(20);
  expect(await overwrite(300)).toBeLessThan(2 * before);
});
