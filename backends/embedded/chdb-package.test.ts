import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findChdbLibrary, isChdbInstalled } from './chdb-package.js';

const library = '@chdb/lib-linux-arm64-gnu';

function install(folder: string, name: string, manifest: object): void {
  const path = join(folder, 'node_modules', name);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'package.json'), JSON.stringify({ name, version: '1.0.0', main: 'index.js', ...manifest }));
  writeFileSync(join(path, 'index.js'), '');
}

test('an arm64 image once ended at its start, because npm had left out the library of chdb', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fenceline-chdb-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const module = join(folder, 'module.js');
  expect(findChdbLibrary(module)).toBeUndefined();
  install(folder, 'chdb', { optionalDependencies: { [library]: '1.0.0', '@chdb/lib-darwin-x64': '1.0.0' } });
  expect(findChdbLibrary(module)).toBeUndefined();
  install(folder, library, {});
  expect(findChdbLibrary(module)).toBe(join(folder, 'node_modules', library, 'index.js'));
});

test('this project has the engine', () => expect(isChdbInstalled).toBe(true));
