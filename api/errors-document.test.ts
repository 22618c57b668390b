import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { errorCatalogue } from '../schemas/errors.js';
import { errorsDocument } from './errors-document.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const modules = [
  'pipeline',
  'backends',
  'http',
  'providers',
  'ingest',
  'api',
  'renderer',
  'imports',
  'replay',
  'server',
  'cli',
];

const sourcesOf = (module: string): string[] =>
  readdirSync(join(root, module), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => readFileSync(join(root, module, name), 'utf8'));

test('docs/errors.md is what the catalogue says', async () => {
  await expect(errorsDocument()).toMatchFileSnapshot(join(root, 'docs/errors.md'));
});

test('every code is returned somewhere', () => {
  const sources = [...modules.flatMap(sourcesOf), readFileSync(join(root, 'schemas/errors.ts'), 'utf8')];
  const answered = (code: string) =>
    sources.some((text) => new RegExp(`((Api|Port)Error\\(|refus(e|al)\\()[^;]*'${code}'`, 's').test(text));
  expect(Object.keys(errorCatalogue).filter((code) => !answered(code))).toEqual([]);
});
