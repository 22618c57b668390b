/** Takes snapshots of the tables of a stopped node. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { freezeTables, removeSnapshot } from '../../backends/embedded/analytics-snapshot.js';
import { freshId } from '../../schemas/ids.js';
import { lockFolder } from '../data-folder/lock.js';
import { folderFailure } from '../data-folder/unusable.js';
import { knownFingerprint } from '../keys/encryption-key.js';
import type { Snapshot, Snapshots } from './backup.js';

/** Keeps nodes from starting on the folder until this process ends. */
export const snapshotsOfStopped = (data: string): Snapshots => ({
  async take() {
    await lockFolder(data).catch((error: NodeJS.ErrnoException) => {
      throw folderFailure(data, error) ?? error;
    });
    const _id = freshId();
    return {
      _id,
      encryptionKeySha256: knownFingerprint(data),
      tables: await frozenTables(join(data, 'analytics'), _id),
    };
  },
  drop: (id) => removeSnapshot(join(data, 'analytics'), id),
});

/** Freezes the tables. A node without the analytics engine has none, and then the engine is not required. */
async function frozenTables(path: string, id: string): Promise<Snapshot['tables']> {
  if (!existsSync(path)) return [];
  const { openChdbAnalytics } = await import('../../backends/embedded/analytics.js');
  const analytics = await openChdbAnalytics({ path });
  try {
    return await freezeTables(analytics, path, id);
  } finally {
    await analytics.close();
  }
}
