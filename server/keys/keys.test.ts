/** The keys of a data folder: what is on disk decides whether a node starts. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { openEmbedded } from '../../backends/embedded/embedded.js';
import { StartError } from '../failures.js';
import { adminApiKey } from './admin-api-key.js';
import { encryptionKey, encryptionKeyFingerprint, knownFingerprint } from './encryption-key.js';

const digits = 'ab'.repeat(32);
const otherDigits = 'cd'.repeat(32);

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fenceline-keys-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
});
const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);

test('a first start creates keys that only the owner can read, and later ones return the same', () => {
  const key = encryptionKey(folder, undefined);
  const admin = adminApiKey(folder, undefined);
  expect(readdirSync(folder).sort()).toEqual(['admin-api-key', 'encryption-key', 'encryption-key.sha256']);
  for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  expect([encryptionKey(folder, undefined), adminApiKey(folder, undefined)]).toEqual([key, admin]);
});

// A first start on a full disk left a key file of no bytes. With it the admin API key was the empty text, and the
// encryption key failed every later start, with a stack that named no file.
test.each([
  ['admin-api-key', '', () => adminApiKey(folder, undefined), 'is empty'],
  ['encryption-key', '\n', () => encryptionKey(folder, undefined), 'is empty'],
  ['encryption-key', 'abc\n', () => encryptionKey(folder, undefined), 'must be 64 hex digits'],
])('the file %s with content %j is refused by its name', (name, content, start, reason) => {
  write(name, content);
  expect(start).toThrow(StartError);
  expect(start).toThrow(join(folder, name));
  expect(start).toThrow(reason);
});

test('an interrupted write of a key leaves no key, and the next start creates one', () => {
  write('encryption-key.unfinished', 'ab');
  write('admin-api-key.unfinished', '');
  expect(encryptionKey(folder, undefined)).toHaveLength(32);
  expect(adminApiKey(folder, undefined)).not.toBe('');
});

// A copy of the folder without its key got a new one, with which no stored secret could be read.
test('a node whose key is missing or another one does not start, and creates no key', () => {
  write('encryption-key', digits);
  encryptionKey(folder, undefined);
  expect(() => encryptionKey(folder, otherDigits)).toThrow(/is another one.*delete encryption-key.sha256/);
  rmSync(join(folder, 'encryption-key'));
  expect(() => encryptionKey(folder, undefined)).toThrow(/is missing.*delete encryption-key.sha256/);
  expect(readdirSync(folder)).toEqual(['encryption-key.sha256']);
});

// A restored folder had neither the key, which came from the environment, nor its fingerprint. A start without the
// variable created another key, and later starts refused the right one.
test('no key is created in a folder with a log, where secrets may need the former one', async () => {
  await openEmbedded({ path: folder, partitions: 1 }).close();
  expect(() => encryptionKey(folder, undefined)).toThrow(/is missing.*write a new key into encryption-key/);
  expect(encryptionKey(folder, digits).toString('hex')).toBe(digits);
  expect(() => encryptionKey(folder, otherDigits)).toThrow(/is another one/);
});

test('the same key from the environment, and a new one after the fingerprint is deleted, are accepted', () => {
  write('encryption-key', digits);
  const key = encryptionKey(folder, undefined);
  rmSync(join(folder, 'encryption-key'));
  expect(encryptionKey(folder, digits)).toEqual(key);
  rmSync(join(folder, 'encryption-key.sha256'));
  expect(encryptionKey(folder, undefined)).not.toEqual(key);
  expect(readFileSync(join(folder, 'encryption-key'), 'utf8')).toMatch(/^[0-9a-f]{64}\n$/);
});

test('a stopped node knows the fingerprint of its key without the key, and nothing is created', () => {
  expect(knownFingerprint(folder)).toBeNull();
  const key = encryptionKey(folder, digits);
  expect(readdirSync(folder)).toEqual(['encryption-key.sha256']);
  expect(knownFingerprint(folder)).toBe(encryptionKeyFingerprint(key));
});
