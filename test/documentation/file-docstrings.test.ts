/** The docstring of a file stands directly above its imports, as in most files: the formatter accepts both. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const separated = /^(#!.*\n)?\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n\n+import\b/;

it('no empty line separates the docstring of a file from its imports', () => {
  const files = execFileSync('git', ['ls-files', '*.ts', '*.tsx', '*.mjs'], { encoding: 'utf8' }).trim().split('\n');
  expect(files.filter((file) => separated.test(readFileSync(file, 'utf8')))).toEqual([]);
});
