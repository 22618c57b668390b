/**
 * Stores uploaded files in the read model: heads in one database, cached in memory, and contents in another, read on
 * demand.
 */
import type { RootDatabase } from 'lmdb';
import type { MapMarkerRecord, MapStyleRecord } from '../../../../schemas/json/map.js';
import type { MapMarkerHead, MapStyleHead } from '../../../../schemas/wire/map.js';
import type { Scope, UploadedFiles } from '../../types.js';
import { createScopedRecords, type RecordSource } from './cached-records.js';
import { idKey } from './keys.js';

/** A record split into head and content. */
interface StoredFile<Head> {
  readonly head: Head;
  readonly content: Buffer;
}

interface StoredFiles<Head> extends UploadedFiles<Head> {
  /** Replaces a file; null deletes it. Must run in a write transaction. */
  replaceSync(id: string, file: StoredFile<Head> | null): void;
  /** Returns the whole record of any scope, or null. */
  whole<Stored>(id: string, join: (file: StoredFile<Head>) => Stored): Stored | null;
  getKeys(): Iterable<Buffer>;
}

/** Splits a style into its head and its content, UTF-8 JSON. */
export function storedStyle({ style, ...record }: MapStyleRecord): StoredFile<MapStyleHead> {
  const content = Buffer.from(JSON.stringify(style));
  return { head: { ...record, bytes: content.length }, content };
}

/** Splits a marker into its head and its image, decoded from base64. */
export function storedMarker({ image, ...record }: MapMarkerRecord): StoredFile<MapMarkerHead> {
  const content = Buffer.from(image, 'base64');
  return { head: { ...record, bytes: content.length }, content };
}

/** Returns the record that {@link storedStyle} split. */
export const recordOfStyle = ({
  head: { bytes: _, ...record },
  content,
}: StoredFile<MapStyleHead>): MapStyleRecord => ({
  ...record,
  style: JSON.parse(`${content}`),
});

/** Returns the record that {@link storedMarker} split. */
export const recordOfMarker = ({
  head: { bytes: _, ...record },
  content,
}: StoredFile<MapMarkerHead>): MapMarkerRecord => ({
  ...record,
  image: content.toString('base64'),
});

/** Opens the databases of one kind of files. */
export function openStoredFiles<Head extends Scope & { readonly _id: string; readonly createdAt: number }>(
  root: RootDatabase,
  name: string,
  changes: Pick<RecordSource<Head>, 'version' | 'changedSince'>,
): StoredFiles<Head> {
  const heads = root.openDB<Head, Buffer>(name, { encoding: 'json', keyEncoding: 'binary' });
  const contents = root.openDB<Buffer, Buffer>(`${name}Contents`, { encoding: 'binary', keyEncoding: 'binary' });
  const { list, find } = createScopedRecords({
    ...changes,
    find: (id) => heads.get(idKey(id)),
    all: () => heads.getRange().map(({ value }) => value),
  });
  return {
    list,
    find,
    getKeys: () => heads.getKeys(),
    content: (scope, id) => find(scope, id) && contents.get(idKey(id)),
    whole(id, join) {
      const [head, content] = [heads.get(idKey(id)), contents.get(idKey(id))];
      return head && content ? join({ head, content }) : null;
    },
    replaceSync(id, file) {
      if (file) heads.putSync(idKey(id), file.head);
      else heads.removeSync(idKey(id));
      if (file) contents.putSync(idKey(id), file.content);
      else contents.removeSync(idKey(id));
    },
  };
}
