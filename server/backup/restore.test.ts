import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openEmbedded } from '../../backends/embedded/embedded.js';
import { encryptionKey, encryptionKeyFingerprint, encryptionKeyOf } from '../keys/encryption-key.js';
import { backUp } from './backup.js';
import { restore } from './restore.js';

const digits = 'ab'.repeat(32);

// The folder got neither the key nor its fingerprint. The next start without the variable created another key.
test.each([
  ['known', encryptionKeyFingerprint(encryptionKeyOf(digits))],
  ['unknown', null],
])('a folder restored with a key from the environment needs this key; to the backup it was %s', async (_, sha256) => {
  const folder = mkdtempSync(join(tmpdir(), 'fenceline-restore-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [original, target, data] = ['original', 'backup', 'restored'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await openEmbedded({ path: original, partitions: 1 }).close();
  const snapshots = { take: async () => ({ _id: 's', encryptionKeySha256: sha256, tables: [] }), drop: async () => {} };
  await backUp({ data: original, target, snapshots, includeKeys: false, signal: new AbortController().signal });
  await restore({ backup: target, data, givenKey: digits });

  expect(() => encryptionKey(data, undefined)).toThrow(/is missing/);
  expect(() => encryptionKey(data, 'cd'.repeat(32))).toThrow(/is another one/);
  expect(encryptionKey(data, digits)).toEqual(encryptionKeyOf(digits));
  expect(readdirSync(data)).not.toContain('encryption-key');
});
