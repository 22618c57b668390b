/** A process ends while LMDB writes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startProgram } from '../../testing/built.js';

function ending(where: 'within' | 'outside'): Promise<number | string> {
  const folder = mkdtempSync(join(tmpdir(), 'fenceline-end-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return startProgram('test/contract/programs/ends-while-writing', [folder, where]).ended;
}

it('a process that ends within a transaction does not hang', async () => {
  expect(await ending('within')).toBe('SIGKILL');
});

it('a process that ends outside of a transaction keeps its exit status', async () => {
  expect(await ending('outside')).toBe(3);
});
