/**
 * The guides told people to install `fenceline` from the registry, where the project publishes nothing. Whoever owns
 * the name there could run code on their machines. The package is a file of a release.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const repositoryFile = (path: string): URL => new URL(`../../${path}`, import.meta.url);
const { name } = JSON.parse(readFileSync(repositoryFile('package.json'), 'utf8')) as { readonly name: string };
const installs = new RegExp(`\\b(npm (install|i|add|exec)|npx --yes|yarn add|pnpm add) [^\`\\n]*\\b${name}(@|[\\s\`])`);

it('no file tells people to install the own name from a registry', () => {
  for (const command of [`npm install ${name}\n`, `npm install chdb ${name}@1.2.3`, `\`npm i ${name}\``])
    expect(command).toMatch(installs);
  expect(`npm install ${name}-VERSION.tgz\n`).not.toMatch(installs);
  const files = execFileSync('git', ['ls-files', '*.md', '*.ts', '*.tsx', '*.mjs', '*.txt'], { encoding: 'utf8' });
  const wrong = files
    .trim()
    .split('\n')
    .filter((path) => installs.test(readFileSync(repositoryFile(path), 'utf8')));
  expect(wrong).toEqual([]);
});
