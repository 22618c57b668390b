/**
 * Remembers which records of a kind changed lately, so that a cache of the kind reads again only these: a change of one
 * project must not cost the records of all.
 *
 * Keys: kind 1 byte, version 6 bytes. Values: ids, 12 bytes each.
 */
import type { RootDatabase } from 'lmdb';
import type { ChangeKind } from '../../../../schemas/records.js';
import { endOfTime, idBytes, idKey } from './keys.js';
import { kindNumbers } from './revisions.js';

/** The latest changes of kinds that are cached. */
interface RecentChanges {
  /** Adds the records of a kind that a batch has changed. Must run in a write transaction. */
  addSync(kind: ChangeKind, version: number, ids: readonly string[]): void;
  /** Returns ids of the records that changed after a version; undefined if that is too long ago. */
  since(kind: ChangeKind, version: number): ReadonlySet<string> | undefined;
}

const versionKey = (kind: ChangeKind, version: number): Buffer => {
  const key = Buffer.alloc(1 + 6);
  key[0] = kindNumbers[kind];
  key.writeUIntBE(Math.max(version, 0), 1, 6);
  return key;
};

/**
 * Opens the table in a read model's file.
 * @param latest returns the version of the read model.
 * @param keptVersions number of versions that the table reaches back.
 */
export function openRecentChanges(root: RootDatabase, latest: () => number, keptVersions: number): RecentChanges {
  const changes = root.openDB<Buffer, Buffer>('recentChanges', { encoding: 'binary', keyEncoding: 'binary' });
  return {
    addSync(kind, version, ids) {
      const past = { start: versionKey(kind, 0), end: versionKey(kind, version - keptVersions) };
      for (const key of [...changes.getKeys(past)]) changes.removeSync(key);
      changes.putSync(versionKey(kind, version), Buffer.concat(ids.map(idKey)));
    },
    since(kind, version) {
      if (version < latest() - keptVersions) return undefined;
      const ids = new Set<string>();
      const range = { start: versionKey(kind, version + 1), end: versionKey(kind, endOfTime) };
      for (const { value } of changes.getRange(range))
        for (let at = 0; at < value.length; at += idBytes) ids.add(value.toString('hex', at, at + idBytes));
      return ids;
    },
  };
}
