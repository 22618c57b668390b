/** Restores a backup into an empty data folder. */
import { existsSync, readFileSync } from 'node:fs';
import { cp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { attachTables } from '../../backends/embedded/analytics-snapshot.js';
import { environmentNames, writeStoredPositions } from '../../backends/embedded/copy.js';
import { isDiskFull } from '../../backends/embedded/space.js';
import { analyticsSinkGroup } from '../../pipeline/stages/analytics/sink.js';
import { fileProblem } from '../../schemas/file-problem.js';
import { lockFolder } from '../data-folder/lock.js';
import { unfinishedRestoreFile } from '../data-folder/unfinished-restore.js';
import { StartError } from '../failures.js';
import {
  encryptionKeyFile,
  encryptionKeyFingerprint,
  encryptionKeyOf,
  storeFingerprint,
} from '../keys/encryption-key.js';
import { writeKeyFile } from '../keys/key-file.js';
import { keyFiles, tablesFolder } from './backup.js';
import { flush, flushAll } from './flush.js';
import { type Manifest, verifiedManifest } from './manifest.js';
import { createTarget, diskFull, refuseContent, refuseInside } from './target-folder.js';

interface RestoreOptions {
  readonly backup: string;
  /** An empty or missing folder. */
  readonly data: string;
  /** File with the encryption key, if the backup has none. */
  readonly encryptionKeyPath?: string | undefined;
  /** The digits of the key, where a node gets it from the environment. The folder then gets its fingerprint only. */
  readonly givenKey?: string | undefined;
}

/**
 * Verifies everything before it writes anything. Throws a StartError when the backup is damaged, the key is missing or
 * another one, the folder has content or is inside the backup, or its disk is full. A restore that failed leaves the
 * folder as it was.
 */
export async function restore({ backup, data, encryptionKeyPath, givenKey }: RestoreOptions): Promise<Manifest> {
  await refuseContent(data);
  const manifest = await verifiedManifest(backup);
  refuseInside(data, backup, 'the backup');
  const key = verifiedKey(backup, manifest, encryptionKeyPath, givenKey);
  const removeFolder = createTarget(data);
  try {
    await writeFile(join(data, unfinishedRestoreFile), `${resolve(backup)}\n`);
    await lockFolder(data);
    for (const name of environmentNames) await cp(join(backup, name), join(data, name), { recursive: true });
    for (const name of keyFiles) if (existsSync(join(backup, name))) await cp(join(backup, name), join(data, name));
    if (encryptionKeyPath !== undefined) writeKeyFile(join(data, encryptionKeyFile), key.toString('hex'));
    storeFingerprint(data, key);
    await writeStoredPositions(data, analyticsSinkGroup, manifest.sinkPositions);
    await restoreTables(backup, data, manifest);
    await flushAll(data);
    await rm(join(data, unfinishedRestoreFile));
    await flush(data);
  } catch (error) {
    removeFolder();
    throw isDiskFull(error, data) ? diskFull(data) : error;
  }
  return manifest;
}

async function restoreTables(backup: string, data: string, { tables }: Manifest): Promise<void> {
  // A node without the analytics engine has no tables, and neither the backup nor the restore requires the engine.
  if (tables.length === 0) return;
  const { openChdbAnalytics } = await import('../../backends/embedded/analytics.js');
  const path = join(data, 'analytics');
  const analytics = await openChdbAnalytics({ path });
  try {
    const partsOf = (name: string): string => join(resolve(backup), tablesFolder, name);
    await attachTables(
      analytics,
      path,
      tables.map((table) => ({ ...table, folder: existsSync(partsOf(table.name)) ? partsOf(table.name) : null })),
    );
  } finally {
    await analytics.close();
  }
}

/** Throws a StartError unless the key is given or included, and is that of the backup. */
function verifiedKey(
  backup: string,
  { includesKeys, encryptionKeySha256 }: Manifest,
  path: string | undefined,
  given: string | undefined,
): Buffer {
  const included = includesKeys ? join(backup, encryptionKeyFile) : undefined;
  const file = path ?? (given ? undefined : included);
  const digits = file === undefined ? given || undefined : readKey(file);
  if (digits === undefined)
    throw new StartError(
      'the backup has no encryption key, without which webhooks cannot sign: name the file with --encryption-key, ' +
        'or set FENCELINE_ENCRYPTION_KEY as the node does',
    );
  const key = encryptionKeyOf(digits, file);
  if (encryptionKeySha256 !== null && encryptionKeyFingerprint(key) !== encryptionKeySha256)
    throw new StartError('the encryption key is not the one of the backup');
  return key;
}

function readKey(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new StartError(`the encryption key ${path} can't be read: ${fileProblem(error)}`);
  }
}
