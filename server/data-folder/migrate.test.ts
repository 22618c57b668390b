import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { adminApiKey } from '../keys/admin-api-key.js';
import { encryptionKey } from '../keys/encryption-key.js';
import { migrateDataFolder } from './migrate.js';

const digits = 'ab'.repeat(32);

/** Returns a data folder with these files, and a read model folder under each of the other names. */
function folderWith(files: Readonly<Record<string, string>>, ...readModels: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'fenceline-migrate-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  for (const name of readModels) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'data.mdb'), name);
  }
  return folder;
}

function migrate(folder: string): string[] {
  const lines: string[] = [];
  migrateDataFolder(folder, { info: (_: unknown, message?: string) => void lines.push(message ?? '') });
  return lines;
}

test('an older data folder keeps its keys and its read model under the new names', () => {
  const folder = folderWith({ 'administrator-key': 'admin\n', 'sealing-key': `${digits}\n` }, 'view');
  expect(migrate(folder)).toHaveLength(3);
  expect(readdirSync(folder).sort()).toEqual(['admin-api-key', 'encryption-key', 'read-model']);
  expect(adminApiKey(folder, undefined)).toBe('admin');
  expect(encryptionKey(folder, undefined).toString('hex')).toBe(digits);
  expect(readFileSync(join(folder, 'read-model', 'data.mdb'), 'utf8')).toBe('view');
});

test('a migration that was interrupted is completed by the next start', () => {
  const folder = folderWith({ 'admin-api-key': 'admin\n', 'sealing-key': `${digits}\n` }, 'read-model');
  expect(migrate(folder)).toHaveLength(1);
  expect(readdirSync(folder).sort()).toEqual(['admin-api-key', 'encryption-key', 'read-model']);
});

test('an empty folder and a folder of this release are left alone', () => {
  expect(migrate(folderWith({}))).toEqual([]);
  expect(migrate(folderWith({ 'admin-api-key': 'x', 'encryption-key': digits }, 'read-model'))).toEqual([]);
});

test('two read models: the outdated one is removed', () => {
  const folder = folderWith({}, 'view', 'read-model');
  migrate(folder);
  expect(readFileSync(join(folder, 'read-model', 'data.mdb'), 'utf8')).toBe('read-model');
  expect(readdirSync(folder)).toEqual(['read-model']);
});

test('two keys: nothing is changed, and the message names both', () => {
  const folder = folderWith({ 'sealing-key': digits, 'encryption-key': 'cd'.repeat(32) }, 'view');
  expect(() => migrate(folder)).toThrow(/both sealing-key, .* and encryption-key/);
  expect(readdirSync(folder).sort()).toEqual(['encryption-key', 'sealing-key', 'view']);
});
