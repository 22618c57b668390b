import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openEmbedded } from '../../backends/embedded/embedded.js';
import { until } from '../../testing/until.js';
import { encryptionKey, encryptionKeyFingerprint, encryptionKeyOf } from '../keys/encryption-key.js';
import { backUp, type Snapshot, type Snapshots } from './backup.js';
import { restore } from './restore.js';

const digits = 'ab'.repeat(32);

/** A folder with the data folder `original` of a node that is stopped. */
async function stoppedNode(encryptionKeySha256: string | null = null) {
  const folder = mkdtempSync(join(tmpdir(), 'fenceline-restore-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const data = join(folder, 'original');
  await openEmbedded({ path: data, partitions: 1 }).close();
  const interruption = new AbortController();
  const { signal } = interruption;
  const snapshot: Snapshot = { _id: 's', encryptionKeySha256, tables: [] };
  return {
    folder,
    data,
    snapshot,
    interruption,
    backUpTo: (target: string, other: Partial<Snapshots> = {}, includeKeys = false) => {
      const snapshots = { take: async () => snapshot, drop: async () => {}, ...other };
      return backUp({ data, target, snapshots, includeKeys, signal });
    },
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

const noServer = async (): Promise<never> => {
  throw new Error('nothing listens');
};

// It left its folder, empty, and those above it.
test('a backup that fails leaves its folder as it was', async () => {
  const { folder, backUpTo } = await stoppedNode();
  await expect(backUpTo(join(folder, 'a', 'b', 'monday'), { take: noServer })).rejects.toThrow('nothing listens');
  expect(existsSync(join(folder, 'a'))).toBe(false);

  const given = join(folder, 'given');
  mkdirSync(given);
  await expect(backUpTo(given, { take: noServer })).rejects.toThrow('nothing listens');
  expect(readdirSync(given)).toEqual([]);

  const shared = join(folder, 'shared');
  const take = async (): Promise<never> => {
    mkdirSync(join(shared, 'tuesday'));
    return noServer();
  };
  await expect(backUpTo(join(shared, 'monday'), { take })).rejects.toThrow('nothing listens');
  expect(readdirSync(shared)).toEqual(['tuesday']);
});

// The answer of the server that had stopped meanwhile replaced the result, and the complete copy was removed.
test('a backup is complete although the node stops before its snapshot is removed', async () => {
  const { folder, backUpTo } = await stoppedNode();
  await backUpTo(join(folder, 'backup'), { drop: noServer });
  await restore({ backup: join(folder, 'backup'), data: join(folder, 'restored'), givenKey: digits });
});

// A restart of the server removes the snapshots. The backup then had a part of the rows, and ended with status 0.
test('a backup whose tables are removed while they are copied fails', async () => {
  const { folder, data, snapshot, backUpTo } = await stoppedNode();
  const target = join(folder, 'backup');
  const tables = ['first', 'second'].map((name) => ({ name, create: '', folder: join('shadow', name) }));
  const folderOf = (name: string): string => join(data, 'analytics', 'shadow', name);
  for (const { name } of tables) mkdirSync(folderOf(name), { recursive: true });
  for (let part = 0; part < 500; part++) writeFileSync(join(folderOf('first'), `${part}`), 'rows');
  writeFileSync(join(folderOf('second'), 'part'), 'rows');
  const copied = backUpTo(target, { take: async () => ({ ...snapshot, tables }) });
  const restarted = until(() => existsSync(join(target, 'analytics', 'first'))).then(() =>
    rmSync(join(folderOf('second'), 'part')),
  );
  await expect(copied).rejects.toThrow(/tables were removed while they were copied.*run the backup again/);
  await restarted;
  expect(existsSync(target)).toBe(false);
});

// LMDB ended the process by SIGSEGV, and the beginning of a backup remained.
test('a damaged data folder is not backed up', async () => {
  const { folder, data, backUpTo } = await stoppedNode();
  const file = join(data, 'log', 'data.mdb');
  writeFileSync(file, Buffer.alloc(readFileSync(file).length, 7));
  await expect(backUpTo(join(folder, 'backup'))).rejects.toThrow(`${file} is damaged`);
  expect(readdirSync(folder)).toEqual(['original']);
});

// The backup had a part of the data, and ended with status 0.
test('a folder whose restore was interrupted is not backed up', async () => {
  const { folder, data, backUpTo } = await stoppedNode();
  writeFileSync(join(data, 'restore-unfinished'), '');
  await expect(backUpTo(join(folder, 'backup'))).rejects.toThrow(`the restore into ${data} was interrupted`);
});

// The copy had begun, and nobody waited for its failure. It ended the process with a stack, and left the target.
test('regression: a backup that is interrupted while the node takes its snapshot copies nothing', async () => {
  const { folder, data, snapshot, interruption, backUpTo } = await stoppedNode();
  const unhandled = vi.fn();
  process.on('unhandledRejection', unhandled);
  onTestFinished(() => void process.off('unhandledRejection', unhandled));
  const dropped = vi.fn(async () => {});
  const take = async () => {
    interruption.abort(new Error('interrupted'));
    return { ...snapshot, tables: [{ name: 'events', create: '', folder: 'gone' }] };
  };
  await expect(backUpTo(join(folder, 'backup'), { take, drop: dropped })).rejects.toThrow('interrupted');
  // A rejection counts as unhandled when the microtasks are done.
  await new Promise(setImmediate);
  expect(unhandled).not.toHaveBeenCalled();
  expect(dropped).toHaveBeenCalledOnce();
  expect(readdirSync(folder)).toEqual([basename(data)]);
});

// The message was that it had no backup.json, also where its owner or the disk was the reason.
test('a backup that cannot be read is refused with the reason of the system', async () => {
  const { folder } = await stoppedNode();
  const backup = join(folder, 'backup');
  mkdirSync(join(backup, 'backup.json'), { recursive: true });
  await expect(restore({ backup, data: join(folder, 'restored'), givenKey: digits })).rejects.toThrow(/EISDIR/);
});

// Each file was flushed to disk, which some file systems refuse.
test.skipIf(process.platform !== 'linux' || process.getuid?.() !== 0)(
  'a backup is restored from a file system that flushes no files',
  async () => {
    const { folder, data, backUpTo } = await stoppedNode();
    const [backup, system] = [join(folder, 'backup'), '/proc/version'];
    writeFileSync(join(data, 'admin-api-key'), readFileSync(system));
    await backUpTo(backup, {}, true);
    execFileSync('mount', ['--bind', system, join(backup, 'admin-api-key')]);
    onTestFinished(() => void execFileSync('umount', [join(backup, 'admin-api-key')]));
    await restore({ backup, data: join(folder, 'restored'), givenKey: digits });
  },
);

/** Calls the function. Returns the paths that it has written to disk meanwhile. */
async function flushedBy(work: () => Promise<unknown>): Promise<string[]> {
  const handle = await open(tmpdir());
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const sync = prototype.sync;
  const paths: string[] = [];
  const spy = vi.spyOn(prototype, 'sync').mockImplementation(function (this: FileHandle) {
    paths.push(readlinkSync(`/proc/self/fd/${this.fd}`));
    return sync.call(this);
  });
  await work().finally(() => spy.mockRestore());
  return paths;
}

/** Returns the paths of all files and folders in a folder. A socket needs no disk. */
const contentOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isSocket())
    .map(({ parentPath, name }) => join(parentPath, name));

// A restore wrote the files of the backup to disk, but not the copies. A power cut after its success undid some.
test.skipIf(process.platform !== 'linux')('a backup and a restore are on disk when they succeed', async () => {
  const { folder, backUpTo } = await stoppedNode();
  const [backup, data] = [join(realpathSync(folder), 'backup'), join(realpathSync(folder), 'restored')];
  const byBackup = await flushedBy(() => backUpTo(backup));
  const byRestore = await flushedBy(() => restore({ backup, data, givenKey: digits }));
  const manifest = join(backup, 'backup.json');
  expect(byBackup).toEqual(expect.arrayContaining(contentOf(backup).filter((path) => path !== manifest)));
  expect(byRestore).toEqual(expect.arrayContaining(contentOf(data)));
  // The name of the manifest, and the removal of the mark of an unfinished restore.
  expect([byBackup.at(-1), byRestore.at(-1)]).toEqual([backup, data]);
});
