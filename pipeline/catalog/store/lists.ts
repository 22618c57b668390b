/** Reads pages of geofences and beacons, in their orders, from the read model's index of list keys. */
import type { Database } from 'lmdb';
import type { BeaconRecord } from '../../../schemas/json/beacon.js';
import type { GeofenceRecord } from '../../../schemas/json/geofence.js';
import type { ListCursor, ListQuery, Page, Scope, SearchPart, SearchQuery, WalkPart, WalkQuery } from '../types.js';
import { endOfList, idKey, idOfListKey, type ListedKind, listPosition, listPrefix, plainText } from './keys.js';

type Listed = GeofenceRecord | BeaconRecord;

/** Later than any time a record can have. */
const endOfTime = 2 ** 48 - 1;

/** Returns the key range of the narrowest list by time that contains all results. */
function range(kind: ListedKind, query: ListQuery): { start: Buffer; end: Buffer } {
  const name = query.tag === undefined ? query.orderBy : (`tag/${query.orderBy}` as const);
  const prefix = listPrefix(kind, query, name, query.tag);
  const before = query.orderBy === 'createdAt' ? query.createdBefore : query.updatedBefore;
  const after = query.orderBy === 'createdAt' ? query.createdAfter : query.updatedAfter;
  return {
    start: query.cursor
      ? Buffer.concat([listPosition(prefix, query.cursor.timeMs), idKey(query.cursor.id)])
      : listPosition(prefix, before ?? endOfTime),
    end: listPosition(prefix, after === undefined ? 0 : after + 1),
  };
}

/** Tests whether the record's metadata contain all given values. */
export function metadataMatches(record: Listed, wanted: ListQuery['metadata']): boolean {
  return Object.entries(wanted ?? {}).every(([name, value]) => record.metadata?.[name] === value);
}

/** Tests whether the record follows the last one of the previous page. */
export const isBeyondCursor = (cursor: ListCursor | null | undefined, timeMs: number, id: string): boolean =>
  cursor == null || timeMs < cursor.timeMs || (timeMs === cursor.timeMs && id < cursor.id);

/** Tests all conditions. Some are already implied by the range, but cheap to repeat. */
const matches = (record: Listed, query: WalkQuery): boolean =>
  record.createdAt < (query.createdBefore ?? Infinity) &&
  record.createdAt > (query.createdAfter ?? -Infinity) &&
  record.updatedAt < (query.updatedBefore ?? Infinity) &&
  record.updatedAt > (query.updatedAfter ?? -Infinity) &&
  (query.tag === undefined || record.tag === query.tag) &&
  (query.externalId === undefined || record.externalId === query.externalId) &&
  metadataMatches(record, query.metadata);

/** Tests whether a record belongs on the page or a later one. */
const isAhead = (record: Listed, query: ListQuery): boolean =>
  matches(record, query) && isBeyondCursor(query.cursor, record[query.orderBy], record._id);

/** Reads a page. `lookup` returns the record of an id, or undefined if it is not visible. */
export function readPage<T extends Listed>(
  index: Database<Buffer, Buffer>,
  kind: ListedKind,
  query: ListQuery,
  lookup: (id: string) => T | undefined,
): Page<T> {
  if (query.externalId !== undefined) return readFew(index, kind, query, query.externalId, lookup);
  const items: T[] = [];
  for (const key of index.getKeys({ ...range(kind, query), reverse: true })) {
    const record = lookup(idOfListKey(key));
    if (record === undefined || !isAhead(record, query)) continue;
    if (items.length === query.limit) return { items, hasMore: true };
    items.push(record);
  }
  return { items, hasMore: false };
}

/** Reads and sorts the records with one external id, at most one per tag. */
function readFew<T extends Listed>(
  index: Database<Buffer, Buffer>,
  kind: ListedKind,
  query: ListQuery,
  externalId: string,
  lookup: (id: string) => T | undefined,
): Page<T> {
  const prefix = listPrefix(kind, query, 'externalId', externalId);
  const found: T[] = [];
  for (const key of index.getKeys({ start: prefix, end: endOfList(prefix) })) {
    const record = lookup(idOfListKey(key));
    if (record !== undefined && isAhead(record, query)) found.push(record);
  }
  found.sort((a, b) => b[query.orderBy] - a[query.orderBy] || (a._id < b._id ? 1 : -1));
  return { items: found.slice(0, query.limit), hasMore: found.length > query.limit };
}

/**
 * Reads a part of a walk, see {@link WalkPart}. `lookup` returns the record of an id, or undefined if it is not
 * visible.
 */
export function walk<T extends Listed>(
  index: Database<Buffer, Buffer>,
  kind: ListedKind,
  query: WalkQuery & { readonly from: string | null; readonly maxExamined: number },
  lookup: (id: string) => T | undefined,
): WalkPart<T> {
  const { createdAfter, createdBefore, from, maxExamined } = query;
  const prefix =
    query.tag === undefined
      ? listPrefix(kind, query, 'createdAt')
      : listPrefix(kind, query, 'tag/createdAt', query.tag);
  const start =
    from === null ? listPosition(prefix, createdAfter === undefined ? 0 : createdAfter + 1) : after(prefix, from);
  const items: T[] = [];
  let examined = 0;
  for (const key of index.getKeys({ start, end: listPosition(prefix, createdBefore ?? endOfTime) })) {
    const record = lookup(idOfListKey(key));
    if (record !== undefined && matches(record, query)) items.push(record);
    examined += 1;
    if (examined === maxExamined) return { items, next: key.toString('hex', prefix.length) };
  }
  return { items, next: null };
}

/** Returns the first key after the one of a list that ends so. */
const after = (prefix: Buffer, ending: string): Buffer =>
  Buffer.concat([prefix, Buffer.from(ending, 'hex'), Buffer.of(0)]);

/** Tests whether the record makes events, as answers of the API say it. */
const isEnabled = (record: Listed, nowMs: number): boolean =>
  record.enabled && (!('disableAfter' in record) || record.disableAfter === null || nowMs <= record.disableAfter);

/** Returns a function that tests whether each word is in one of the texts by which people know a record. */
function wordsTest(words: readonly string[]): (record: Listed) => boolean {
  const wanted = words.map(plainText);
  if (wanted.length === 0) return () => true;
  return (record) => {
    const address = 'geometrySource' in record ? record.geometrySource?.address?.query : undefined;
    const text = plainText([record.description, record.tag, record.externalId, address].join('\n'));
    return wanted.every((word) => text.includes(word));
  };
}

/** Returns the narrowest list in the order of the search. Few records share an external id; they are in no order. */
function listOfSearch(kind: ListedKind, query: SearchQuery): Buffer {
  if (query.externalId !== undefined) return listPrefix(kind, query, 'externalId', query.externalId);
  if (query.tag === undefined) return listPrefix(kind, query, query.sort);
  return listPrefix(kind, query, `tag/${query.sort}`, query.tag);
}

const noKey = Buffer.alloc(0);

/**
 * Reads a part of a search, see {@link SearchPart}. `lookup` returns the record of an id, or undefined if it is not
 * visible.
 */
export function search<T extends Listed>(
  index: Database<Buffer, Buffer>,
  kind: ListedKind,
  query: SearchQuery & { readonly nowMs: number },
  lookup: (id: string) => T | undefined,
): SearchPart<T> {
  const { from, limit, maxExamined, enabled, nowMs } = query;
  const prefix = listOfSearch(kind, query);
  const hasWords = wordsTest(query.words ?? []);
  const last = from === null ? noKey : Buffer.concat([prefix, Buffer.from(from, 'hex')]);
  const [low, high] = [prefix, endOfList(prefix)];
  const range = query.isDescending
    ? { start: from === null ? high : last, end: low, reverse: true }
    : { start: from === null ? low : last, end: high };
  const items: T[] = [];
  let passed = from;
  let examined = 0;
  for (const key of index.getKeys(range)) {
    if (key.equals(last)) continue;
    if (examined === maxExamined) return { items, next: passed, examined };
    examined += 1;
    const record = lookup(idOfListKey(key));
    const isWanted =
      record !== undefined &&
      matches(record, query) &&
      (enabled === undefined || isEnabled(record, nowMs) === enabled) &&
      hasWords(record);
    if (isWanted) {
      if (items.length === limit) return { items, next: passed, examined };
      items.push(record);
    }
    passed = key.toString('hex', prefix.length);
  }
  return { items, next: null, examined };
}

/** Returns the number of records of a scope, or of those with a tag. */
export const countOf = (index: Database<Buffer, Buffer>, kind: ListedKind, query: Scope & { tag?: string }): number => {
  const prefix =
    query.tag === undefined
      ? listPrefix(kind, query, 'createdAt')
      : listPrefix(kind, query, 'tag/createdAt', query.tag);
  return index.getKeysCount({ start: prefix, end: endOfList(prefix) });
};
