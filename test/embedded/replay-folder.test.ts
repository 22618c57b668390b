/** `fenceline replay` on a data folder. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { program } from '../support/program.js';

test('a missing folder is reported in one line and not created', () => {
  const workFolder = mkdtempSync(join(tmpdir(), 'fenceline-replay-folder-'));
  onTestFinished(() => rmSync(workFolder, { recursive: true }));
  const args = [program, 'replay', '--environment', 'test', '--data', 'none'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: workFolder, encoding: 'utf8' });
  expect(stderr).toBe('fenceline: none is not a data folder of Fenceline; choose another with --data\n');
  expect([status, stdout]).toEqual([1, '']);
  expect(readdirSync(workFolder)).toEqual([]);
});
