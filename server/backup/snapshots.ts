/** Takes snapshots of the tables of a stopped node. */
import { join } from 'node:path';
import { openChdbAnalytics } from '../../backends/embedded/analytics.js';
import { freezeTables, removeSnapshot } from '../../backends/embedded/analytics-snapshot.js';
import { freshId } from '../../schemas/ids.js';
import { lockFolder } from '../data-folder/lock.js';
import { presentEncryptionKey } from '../keys/encryption-key.js';
import type { Snapshots } from './backup.js';
import { encryptionKeyFingerprint } from './fingerprint.js';

/** Keeps nodes from starting on the folder until this process ends. */
export const snapshotsOfStopped = (data: string): Snapshots => ({
  async take() {
    await lockFolder(data);
    const path = join(data, 'analytics');
    const analytics = await openChdbAnalytics({ path });
    try {
      const key = presentEncryptionKey(data);
      const _id = freshId();
      return {
        _id,
        encryptionKeySha256: key === undefined ? null : encryptionKeyFingerprint(key),
        tables: await freezeTables(analytics, path, _id),
      };
    } finally {
      await analytics.close();
    }
  },
  drop: (id) => removeSnapshot(join(data, 'analytics'), id),
});
