/** Tests what an LMDB environment writes to its file: no secret from memory, and no more than it must. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { collectGarbage } from '../../testing/garbage.js';
import { openEnvironment } from './environment.js';

const secret = 'whsec_0123456789abcdefABCDEF0123456789';
/** With `noMemInit` each of seven runs found the secret. More rounds only collect more garbage. */
const rounds = 4;
const buffersPerRound = 2_000;
const valuesPerRound = 100;

/** Frees memory that held the secret, in all sizes from which pages are allocated. */
async function freeMemoryWithSecrets(): Promise<void> {
  const held = Array.from({ length: buffersPerRound }, (_, index) =>
    Buffer.allocUnsafeSlow(500 + ((index * 97) % 9_000)).fill(secret),
  );
  held.length = 0;
  collectGarbage();
  await nextTurn();
}

// LMDB's option `noMemInit` writes pages as they come from the allocator: a freed answer with a webhook's secret was
// found in the file.
it('freed memory is not written to the file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fenceline-environment-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const environment = openEnvironment({ path: folder, mapBytes: 2 ** 30, syncBeforeVisible: true });
  const table = environment.table('values');
  for (let round = 0; round < rounds; round++) {
    await freeMemoryWithSecrets();
    // Values of more than half a page take pages of their own, the last of which is filled in part.
    await environment.transaction(() => {
      for (let index = 0; index < valuesPerRound; index++) {
        table.putSync(Buffer.from(`key ${index}`), Buffer.alloc(10 + ((index * 131) % 9_000)));
      }
    });
  }
  await environment.close();
  expect(readFileSync(join(folder, 'data.mdb')).includes(secret)).toBe(false);
});

// LMDB kept a list of 75,000 free pages in memory, and wrote parts of it with each commit: docs/decisions/173.
it.skipIf(process.platform !== 'linux')('a commit of one value among many free pages writes few bytes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fenceline-environment-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const environment = openEnvironment({ path: folder, mapBytes: 2 ** 30, syncBeforeVisible: false });
  const table = environment.table('values');
  const [count, commits] = [40_000, 20];
  const keyOf = (index: number): Buffer => Buffer.from(`key ${String(index).padStart(5, '0')}`);
  const put = (index: number, bytes: number) =>
    environment.transaction(() => table.putSync(keyOf(index), Buffer.alloc(bytes)));
  // Each value takes a page of its own, so every second page becomes free.
  await environment.transaction(() => {
    for (let index = 0; index < count; index++) table.putSync(keyOf(index), Buffer.alloc(3_000));
  });
  await environment.transaction(() => {
    for (let index = 1; index < count; index += 2) table.removeSync(keyOf(index));
  });
  // LMDB looks at all free pages for some that are next to each other.
  for (let index = 0; index < 5; index++) await put(2 * index, 100_000);
  const before = writtenBytes();
  for (let index = 0; index < commits; index++) await put(2 * index, 3_000);
  const bytesPerCommit = (writtenBytes() - before) / commits;
  await environment.close();
  expect(bytesPerCommit).toBeLessThan(40_000);
});

/** Returns the bytes that this process has given to the system to write so far. */
const writtenBytes = (): number => Number(/^wchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))![1]);
