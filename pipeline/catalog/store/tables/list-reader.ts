/** Reads the lists of geofences and beacons by time, by description and by external id, see `apply/list-writer.ts`. */
import type { Database } from 'lmdb';
import type { BeaconRecord } from '../../../../schemas/json/beacon.js';
import { type GeofenceRecord, isEnabledAt } from '../../../../schemas/json/geofence.js';
import type {
  ListCursor,
  ListQuery,
  MetadataFilter,
  Page,
  Scope,
  SearchPart,
  SearchQuery,
  WalkPart,
  WalkQuery,
} from '../../types.js';
import {
  endOfList,
  endOfTime,
  idBytes,
  idOfListKey,
  type ListedKind,
  listPosition,
  listPrefix,
  orderPrefix,
  plainText,
} from './keys.js';

type Listed = GeofenceRecord | BeaconRecord;
type Index = Database<Buffer, Buffer>;

/** Iterates over the ids of an entry, in ascending order unless `isReverse`. */
function* idsOf(entry: Buffer, isReverse = false): Generator<string> {
  const count = entry.length / idBytes;
  for (let index = 0; index < count; index++) {
    const at = idBytes * (isReverse ? count - 1 - index : index);
    yield entry.toString('hex', at, at + idBytes);
  }
}

/** A range of keys, of which `end` is excluded. */
interface KeyRange {
  readonly start: Buffer;
  readonly end: Buffer;
  readonly reverse?: boolean;
}

/** A record's place in a list by time: the key of its entry, and its id. */
interface PlaceByTime {
  readonly key: Buffer;
  readonly id: string;
}

/** Iterates over a list by time, in the order of time and id, from the place after `passed` on. */
function* placesByTime(index: Index, range: KeyRange, passed: PlaceByTime | null): Generator<PlaceByTime> {
  const { reverse = false } = range;
  for (const { key, value } of index.getRange(range)) {
    const isPartlyPassed = passed?.key.equals(key) === true;
    for (const id of idsOf(value, reverse)) {
      if (isPartlyPassed && (reverse ? id >= passed.id : id <= passed.id)) continue;
      yield { key, id };
    }
  }
}

/** Hex digits of the time in the ending of a place by time, which the id follows. */
const timeDigits = 12;

/** Returns the place of a list by time whose ending is given, in hex digits. */
const placeOfEnding = (prefix: Buffer, ending: string): PlaceByTime => ({
  key: Buffer.concat([prefix, Buffer.from(ending.slice(0, timeDigits), 'hex')]),
  id: ending.slice(timeDigits),
});

const cursorAt = ({ key, id }: PlaceByTime): ListCursor => ({
  timeMs: key.readUIntBE(key.length - timeDigits / 2, timeDigits / 2),
  id,
});

const endingOf = (prefix: Buffer, { key, id }: PlaceByTime): string => key.toString('hex', prefix.length) + id;

/** Returns the key range, newest first, of the narrowest list by time that contains all results. */
function range(kind: ListedKind, query: ListQuery): { start: Buffer; end: Buffer } {
  const prefix = orderPrefix(kind, query, query.orderBy, query.tag);
  const before = query.orderBy === 'createdAt' ? query.createdBefore : query.updatedBefore;
  const after = query.orderBy === 'createdAt' ? query.createdAfter : query.updatedAfter;
  return {
    start: listPosition(prefix, query.cursor?.timeMs ?? before ?? endOfTime),
    // Excluded from the range. A key has no time before 1970.
    end: after === undefined || after < 0 ? prefix : listPosition(prefix, after),
  };
}

/** Tests whether the record's metadata have a matching value for every key. */
export function metadataMatches(record: Pick<Listed, 'metadata'>, wanted: MetadataFilter = {}): boolean {
  const { metadata } = record;
  return Object.entries(wanted).every(
    ([name, values]) => metadata != null && Object.hasOwn(metadata, name) && values.includes(metadata[name]!),
  );
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
  index: Index,
  kind: ListedKind,
  query: ListQuery,
  lookup: (id: string) => T | undefined,
): Page<T> {
  const items: T[] = [];
  const keys = range(kind, query);
  const passed = query.cursor ? { key: keys.start, id: query.cursor.id } : null;
  let examined = 0;
  for (const place of placesByTime(index, { ...keys, reverse: true }, passed)) {
    const record = lookup(place.id);
    if (record !== undefined && isAhead(record, query)) {
      if (items.length === query.limit) return { items, hasMore: true };
      items.push(record);
    }
    examined += 1;
    if (examined === query.maxExamined) return { items, hasMore: true, next: cursorAt(place) };
  }
  return { items, hasMore: false };
}

/**
 * Reads a part of a walk, see {@link WalkPart}. `lookup` returns the record of an id, or undefined if it is not
 * visible.
 */
export function walk<T extends Listed>(
  index: Index,
  kind: ListedKind,
  query: WalkQuery & { readonly from: string | null; readonly maxExamined: number },
  lookup: (id: string) => T | undefined,
): WalkPart<T> {
  const { createdAfter, createdBefore, from, maxExamined } = query;
  const prefix = orderPrefix(kind, query, 'createdAt', query.tag);
  const passed = from === null ? null : placeOfEnding(prefix, from);
  const start = passed?.key ?? listPosition(prefix, createdAfter === undefined ? 0 : createdAfter + 1);
  const items: T[] = [];
  let examined = 0;
  const range = { start, end: listPosition(prefix, createdBefore ?? endOfTime) };
  for (const place of placesByTime(index, range, passed)) {
    const record = lookup(place.id);
    if (record !== undefined && matches(record, query)) items.push(record);
    examined += 1;
    if (examined === maxExamined) return { items, next: endingOf(prefix, place) };
  }
  return { items, next: null };
}

/** Tests whether the record makes events, as answers of the API say it. */
const isEnabled = (record: Listed, nowMs: number): boolean =>
  'disableAfter' in record ? isEnabledAt(record, nowMs) : record.enabled;

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

/** Returns ids of a scope's records, oldest first, also of those that nobody sees any more. */
export function idsOfScope(index: Index, kind: ListedKind, scope: Scope, limit: number): string[] {
  const prefix = listPrefix(kind, scope, 'createdAt');
  const ids: string[] = [];
  for (const { id } of placesByTime(index, { start: prefix, end: endOfList(prefix) }, null)) {
    if (ids.length === limit) break;
    ids.push(id);
  }
  return ids;
}

/** Returns the narrowest list in the order of the search. Records with one external id are in no order. */
const listOfSearch = (kind: ListedKind, query: SearchQuery): Buffer =>
  query.externalId === undefined
    ? orderPrefix(kind, query, query.sort, query.tag)
    : listPrefix(kind, query, 'externalId', query.externalId);

/** Iterates over a list in the order of a search: ids, and the endings from which it can continue. */
function* placesOfSearch(
  index: Index,
  kind: ListedKind,
  query: SearchQuery,
): Generator<{ id: string; ending: string }> {
  const { from, isDescending } = query;
  const prefix = listOfSearch(kind, query);
  const isByTime = query.externalId === undefined && query.sort !== 'description';
  const passed = from === null ? null : isByTime ? placeOfEnding(prefix, from) : keyOfEnding(prefix, from);
  const range = isDescending
    ? { start: passed?.key ?? endOfList(prefix), end: prefix, reverse: true }
    : { start: passed?.key ?? prefix, end: endOfList(prefix) };
  if (isByTime) {
    for (const place of placesByTime(index, range, passed)) yield { id: place.id, ending: endingOf(prefix, place) };
    return;
  }
  for (const key of index.getKeys(range)) {
    if (!passed?.key.equals(key)) yield { id: idOfListKey(key), ending: key.toString('hex', prefix.length) };
  }
}

function keyOfEnding(prefix: Buffer, ending: string): PlaceByTime {
  const key = Buffer.concat([prefix, Buffer.from(ending, 'hex')]);
  return { key, id: idOfListKey(key) };
}

/**
 * Reads a part of a search, see {@link SearchPart}. `lookup` returns the record of an id, or undefined if it is not
 * visible.
 */
export function search<T extends Listed>(
  index: Index,
  kind: ListedKind,
  query: SearchQuery & { readonly nowMs: number },
  lookup: (id: string) => T | undefined,
): SearchPart<T> {
  const { from, limit, maxExamined, enabled, nowMs } = query;
  const hasWords = wordsTest(query.words ?? []);
  const items: T[] = [];
  let passed = from;
  let examined = 0;
  for (const { id, ending } of placesOfSearch(index, kind, query)) {
    if (examined === maxExamined) return { items, next: passed, examined };
    examined += 1;
    const record = lookup(id);
    const isWanted =
      record !== undefined &&
      matches(record, query) &&
      (enabled === undefined || isEnabled(record, nowMs) === enabled) &&
      hasWords(record);
    if (isWanted) {
      if (items.length === limit) return { items, next: passed, examined };
      items.push(record);
    }
    passed = ending;
  }
  return { items, next: null, examined };
}

/** Returns the number of records of a scope, or of those with a tag. The list by description has a key for each. */
export const countOf = (index: Index, kind: ListedKind, query: Scope & { tag?: string }): number => {
  const prefix = orderPrefix(kind, query, 'description', query.tag);
  return index.getKeysCount({ start: prefix, end: endOfList(prefix) });
};
