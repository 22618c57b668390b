/** Stores imports and the parts of their files in the read model. Lists are read from the index, newest first. */
import type { RootDatabase } from 'lmdb';
import type { ImportedResourceName, ImportPartRecord, ImportRecord } from '../../../../schemas/json/import.js';
import type { ImportHistory, ImportQuery, Page, Scope } from '../../types.js';
import { findInScope } from './find.js';
import { endOfList, endOfTime, idKey, idOfListKey, listPosition, scopePart } from './keys.js';

interface StoredImports extends ImportHistory {
  /** Replaces an import; null deletes it. Must run in a write transaction. */
  replaceSync(id: string, record: ImportRecord | null): void;
  replacePartSync(id: string, record: ImportPartRecord | null): void;
  whole(id: string): ImportRecord | null;
  wholePart(id: string): ImportPartRecord | null;
  getKeys(): Iterable<Buffer>;
  getPartKeys(): Iterable<Buffer>;
}

const prefixOf = (scope: Scope, resource: ImportedResourceName): Buffer =>
  Buffer.concat([scopePart(scope), Buffer.of(resource === 'geofences' ? 0 : 1)]);

const listKey = (record: ImportRecord): Buffer =>
  Buffer.concat([listPosition(prefixOf(record, record.resource), record.createdAt), idKey(record._id)]);

/** Opens the databases of imports in the read model. */
export function openStoredImports(root: RootDatabase): StoredImports {
  const json = { encoding: 'json', keyEncoding: 'binary' } as const;
  const imports = root.openDB<ImportRecord, Buffer>('imports', json);
  const parts = root.openDB<ImportPartRecord, Buffer>('importParts', json);
  const index = root.openDB<Buffer, Buffer>('importIndex', { encoding: 'binary', keyEncoding: 'binary' });

  const find = (scope: Scope, id: string) => findInScope(imports, scope, id);

  function list({ limit, resource, before, ...scope }: ImportQuery): Page<ImportRecord> {
    const prefix = prefixOf(scope, resource);
    const last = before && Buffer.concat([listPosition(prefix, before.timeMs), idKey(before.id)]);
    const items: ImportRecord[] = [];
    const start = last ?? endOfList(listPosition(prefix, endOfTime));
    for (const key of index.getKeys({ start, end: listPosition(prefix, 0), reverse: true })) {
      const record = last?.equals(key) ? undefined : find(scope, idOfListKey(key));
      if (record === undefined) continue;
      if (items.length === limit) return { items, hasMore: true };
      items.push(record);
    }
    return { items, hasMore: false };
  }

  return {
    find,
    list,
    part: (scope, id) => findInScope(parts, scope, id)?.text,
    replaceSync(id, record) {
      const before = imports.get(idKey(id));
      if (before) index.removeSync(listKey(before));
      if (record === null) {
        imports.removeSync(idKey(id));
        return;
      }
      imports.putSync(idKey(id), record);
      index.putSync(listKey(record), Buffer.alloc(0));
    },
    replacePartSync(id, record) {
      if (record) parts.putSync(idKey(id), record);
      else parts.removeSync(idKey(id));
    },
    whole: (id) => imports.get(idKey(id)) ?? null,
    wholePart: (id) => parts.get(idKey(id)) ?? null,
    getKeys: () => imports.getKeys(),
    getPartKeys: () => parts.getKeys(),
  };
}
