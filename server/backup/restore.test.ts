import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openEmbedded } from '../../backends/embedded/embedded.js';
import { encryptionKey, encryptionKeyFingerprint, encryptionKeyOf } from '../keys/encryption-key.js';
import { backUp } from './backup.js';
import { restore } from './restore.js';

const digits = 'ab'.repeat(32);

/** A folder with the data folder `original` of a node that is stopped. */
async function stoppedNode(encryptionKeySha256: string | null = null) {
  const folder = mkdtempSync(join(tmpdir(), 'fenceline-restore-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const data = join(folder, 'original');
  await openEmbedded({ path: data, partitions: 1 }).close();
  const snapshots = { take: async () => ({ _id: 's', encryptionKeySha256, tables: [] }), drop: async () => {} };
  const { signal } = new AbortController();
  return {
    folder,
    data,
    backUpTo: (target: string) => backUp({ data, target, snapshots, includeKeys: false, signal }),
  };
}

// The folder got neither the key nor its fingerprint. The next start without the variable created another key.
test.each([
  ['known', encryptionKeyFingerprint(encryptionKeyOf(digits))],
  ['unknown', null],
])('a folder restored with a key from the environment needs this key; to the backup it was %s', async (_, sha256) => {
  const { folder, backUpTo } = await stoppedNode(sha256);
  const [target, data] = [join(folder, 'backup'), join(folder, 'restored')];
  await backUpTo(target);
  await restore({ backup: target, data, givenKey: digits });

  expect(() => encryptionKey(data, undefined)).toThrow(/is missing/);
  expect(() => encryptionKey(data, 'cd'.repeat(32))).toThrow(/is another one/);
  expect(encryptionKey(data, digits)).toEqual(encryptionKeyOf(digits));
  expect(readdirSync(data)).not.toContain('encryption-key');
});

// A backup in `imports/` or `sync/` of the data folder hinders the next start, which empties them.
test('a backup is not written into the data folder, also not through a symbolic link', async () => {
  const { folder, data, backUpTo } = await stoppedNode();
  symlinkSync(data, join(folder, 'link'));
  for (const target of [join(data, 'imports', 'monday'), join(folder, 'link', 'monday')])
    await expect(backUpTo(target)).rejects.toThrow(/is inside the data folder/);
  expect(readdirSync(data)).not.toContain('imports');
  await backUpTo(join(folder, 'original-monday'));
});

// The backup then counted as damaged: it had foreign files.
test('a backup is not restored into itself', async () => {
  const { folder, backUpTo } = await stoppedNode();
  const backup = join(folder, 'backup');
  await backUpTo(backup);
  await expect(restore({ backup, data: join(backup, 'data'), givenKey: digits })).rejects.toThrow(
    /is inside the backup/,
  );
  await restore({ backup, data: join(folder, 'backup-restored'), givenKey: digits });
});
