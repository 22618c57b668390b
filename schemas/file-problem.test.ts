import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { fileProblem } from './file-problem.js';

/** Returns the error of an action that fails. */
function errorOf(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error('the action succeeded');
}

// "ENOENT: no such file or directory, open 'fenceline.yml'" was the answer to a mistyped path.
test('errors of the system are named in words, and others keep their message', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fenceline-file-problem-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const problemOf = (action: () => unknown): string => fileProblem(errorOf(action));
  expect(problemOf(() => readFileSync(join(folder, 'none')))).toBe('there is no such file or folder');
  expect(problemOf(() => readFileSync(folder))).toBe('it is a folder');
  expect(problemOf(() => readFileSync(join(file, 'x')))).toBe('a part of the path is a file, not a folder');
  expect(problemOf(() => mkdirSync(file))).toBe('it exists already');
  expect(fileProblem(new Error('it is damaged'))).toBe('it is damaged');
});
