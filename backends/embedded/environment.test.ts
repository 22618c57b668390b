/** Tests that no secret in the memory of the process reaches the file of an LMDB environment. */
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
