/**
 * Binary keys of the read model's databases. Most parts have a fixed width, so that keys sort by their parts: ids 12
 * bytes (24 hex digits), environment 1, times 6 (epoch ms, big-endian), tags 12. Tags and long external ids are hashed,
 * because their length is unlimited and that of a key is not.
 */
import { LRUCache } from 'lru-cache';
import { deriveId, isId } from '../../../../schemas/ids.js';
import type { BeaconRecord } from '../../../../schemas/json/beacon.js';
import type { GeofenceRecord } from '../../../../schemas/json/geofence.js';
import { isSameScope } from '../../scope.js';
import type { Scope } from '../../types.js';

/** The kinds of records that lists and searches return. */
export type ListedKind = 'geofence' | 'beacon';

/** The lists by time and by description, and the unordered lists by external id and by place, which are short. */
const listNames = [
  'createdAt',
  'updatedAt',
  'tag/createdAt',
  'tag/updatedAt',
  'externalId',
  'placeId',
  'description',
  'tag/description',
] as const;
type ListName = (typeof listNames)[number];

/** The value of entries whose key says all. */
export const noValue = Buffer.alloc(0);

/** Bytes of an id in a key. */
export const idBytes = 12;
const timeBytes = 6;
/** The latest time that a key can hold, later than any that a record can have. */
export const endOfTime = 2 ** 48 - 1;

/** Returns the id. Throws unless it has 24 hex digits: a key of another length could match a different record. */
export function checkedId(id: string): string {
  if (!isId(id)) throw new Error(`not an id of 24 hex digits: ${id}`);
  return id;
}

/** Returns an id as a key: 12 bytes. Throws if it is not 24 hex digits. */
export const idKey = (id: string): Buffer => Buffer.from(checkedId(id), 'hex');

/** Returns the time that a key can hold. */
export const keyTime = (epochMs: number): number => Math.min(Math.max(Math.floor(epochMs), 0), endOfTime);

/** Returns the part of a key that says a time: 6 bytes, which sort by time. */
export function timePart(epochMs: number): Buffer {
  const part = Buffer.allocUnsafe(timeBytes);
  part.writeUIntBE(keyTime(epochMs), 0, timeBytes);
  return part;
}

/** Returns the part of a key that says the project and environment: 13 bytes. */
export const scopePart = ({ project, environment }: Scope): Buffer =>
  Buffer.concat([idKey(project), Buffer.of(environment === 'live' ? 1 : 0)]);

const listNumber = (kind: ListedKind, name: ListName): number =>
  (kind === 'geofence' ? 0 : 8) + listNames.indexOf(name);

const valuePart = (value: string): Buffer => idKey(deriveId(value));

/** Longer external ids, and those with other characters than ASCII, are hashed. */
const maxPlainBytes = 48;
/** Begins the part of a hashed external id. No byte of UTF-8 is as high. */
const hashedMark = 0xff;

/**
 * Returns the part of a key that says the external id. Rows of a file have similar ones, and keys that are near each
 * other take few pages. None is the beginning of another.
 */
function externalIdPart(externalId: string): Buffer {
  if (externalId.length < maxPlainBytes && /^[ -~]*$/.test(externalId)) return Buffer.from(`${externalId}\0`, 'latin1');
  return Buffer.concat([Buffer.of(hashedMark), valuePart(externalId)]);
}

const madePrefix = (kind: ListedKind, scope: Scope, name: ListName, value?: string): Buffer =>
  Buffer.concat([
    Buffer.of(listNumber(kind, name)),
    scopePart(scope),
    ...(value === undefined ? [] : [valuePart(value)]),
  ]);

/** The records of an import share few lists, apart from those by external id. */
const prefixes = new LRUCache<string, Buffer>({ max: 1_000 });

/**
 * Returns the prefix of all keys of a list, which callers must not change. `value` is the tag, external id or place of
 * the list.
 */
export function listPrefix(kind: ListedKind, scope: Scope, name: ListName, value?: string): Buffer {
  // Each row has its own external id, so only the part before it is cached.
  if (name === 'externalId' && value !== undefined)
    return Buffer.concat([listPrefix(kind, scope, name), externalIdPart(value)]);
  const cacheKey = `${kind}/${scope.project}/${scope.environment}/${name}/${value ?? ''}`;
  const known = prefixes.get(cacheKey);
  if (known !== undefined) return known;
  const prefix = madePrefix(kind, scope, name, value);
  prefixes.set(cacheKey, prefix);
  return prefix;
}

/** Returns the prefix of the list of all records in an order, or of those with the tag. */
export const orderPrefix = (
  kind: ListedKind,
  scope: Scope,
  order: 'createdAt' | 'updatedAt' | 'description',
  tag: string | null | undefined,
): Buffer => (tag == null ? listPrefix(kind, scope, order) : listPrefix(kind, scope, `tag/${order}`, tag));

/** Returns the key of a time in a list by time, which is also the position before all longer keys of the time. */
export const listPosition = (prefix: Buffer, epochMs: number): Buffer => Buffer.concat([prefix, timePart(epochMs)]);

/** Returns the id at the end of the key of a list. */
export const idOfListKey = (key: Buffer): string => key.toString('hex', key.length - idBytes);

/** Returns the position after all keys with the prefix. No byte of UTF-8 is as high. */
export const endOfList = (prefix: Buffer): Buffer => Buffer.concat([prefix, Buffer.alloc(timeBytes + idBytes, 0xff)]);

/** Longer texts that begin alike are in the order of their ids. */
const maxSortedBytes = 64;
/** Length of the end of a key, in hex digits: in a list by time, and with the longest description. */
export const endingDigits = {
  minimum: 2 * idBytes,
  maximum: 2 * (maxSortedBytes + 1 + idBytes),
} as const;

/** Returns a text in lower case without diacritics, so that Österreich is sorted near Oslo. */
export const plainText = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** The prefixes of the lists that a record is in by itself. */
interface OwnPrefixes {
  readonly description: Buffer;
  /** Of a record with a tag. */
  readonly tagDescription: Buffer | null;
  readonly externalId: Buffer;
}

const ownPrefixes = new LRUCache<string, OwnPrefixes>({ max: 1_000 });

function ownPrefixesOf(kind: ListedKind, record: GeofenceRecord | BeaconRecord): OwnPrefixes {
  const { tag } = record;
  const cacheKey = `${kind}/${record.project}/${record.environment}/${tag ?? ''}`;
  const known = ownPrefixes.get(cacheKey);
  if (known !== undefined && (known.tagDescription === null) === (tag === null)) return known;
  const made = {
    description: listPrefix(kind, record, 'description'),
    tagDescription: tag === null ? null : listPrefix(kind, record, 'tag/description', tag),
    externalId: listPrefix(kind, record, 'externalId'),
  };
  ownPrefixes.set(cacheKey, made);
  return made;
}

/** Returns the key of prefix, part and id. */
function joined(prefix: Buffer, part: Buffer, id: Buffer): Buffer {
  const key = Buffer.allocUnsafe(prefix.length + part.length + idBytes);
  key.set(prefix);
  key.set(part, prefix.length);
  key.set(id, prefix.length + part.length);
  return key;
}

/** Returns the part of a key by which records are in the order of their descriptions. */
function descriptionPart(description: string): Buffer {
  const start = description.slice(0, maxSortedBytes);
  if (/^[ -~]*$/.test(start)) return Buffer.from(`${start.toLowerCase()}\0`, 'latin1');
  // A control character could be taken for the end of a shorter text.
  const text = Buffer.from(plainText(start).replace(/\p{Cc}/gu, ' '));
  return Buffer.concat([text.subarray(0, maxSortedBytes), Buffer.of(0)]);
}

/** Returns the id of the place that a geofence follows. */
const placeIdOf = (record: GeofenceRecord | BeaconRecord): string | undefined =>
  'geometrySource' in record ? record.geometrySource?.place?.id : undefined;

/** Returns the keys of a record in the lists by description, by external id and by place. */
function ownListKeys(kind: ListedKind, record: GeofenceRecord | BeaconRecord): Buffer[] {
  const { externalId } = record;
  const id = idKey(record._id);
  const description = descriptionPart(record.description);
  const placeId = placeIdOf(record);
  const prefixes = ownPrefixesOf(kind, record);
  const keys = [joined(prefixes.description, description, id)];
  if (prefixes.tagDescription !== null) keys.push(joined(prefixes.tagDescription, description, id));
  if (externalId !== null) keys.push(joined(prefixes.externalId, externalIdPart(externalId), id));
  if (placeId !== undefined) keys.push(Buffer.concat([listPrefix(kind, record, 'placeId', placeId), id]));
  return keys;
}

/** Tests whether two records have the same keys of {@link ownListKeys}, as after most updates. */
const isListedAlike = (one: GeofenceRecord | BeaconRecord, other: GeofenceRecord | BeaconRecord): boolean =>
  one._id === other._id &&
  isSameScope(one, other) &&
  one.tag === other.tag &&
  one.externalId === other.externalId &&
  one.description === other.description &&
  placeIdOf(one) === placeIdOf(other);

/** Returns the keys of {@link ownListKeys} that a record leaves and enters, where `before` or `after` may be absent. */
export function changedListKeys(
  kind: ListedKind,
  before: GeofenceRecord | BeaconRecord | null | undefined,
  after: GeofenceRecord | BeaconRecord | null,
): { removed: Buffer[]; added: Buffer[] } {
  if (before && after && isListedAlike(before, after)) return { removed: [], added: [] };
  const [old, current] = [before ? ownListKeys(kind, before) : [], after ? ownListKeys(kind, after) : []];
  const without = (keys: readonly Buffer[], others: readonly Buffer[]): Buffer[] =>
    others.length === 0 ? [...keys] : keys.filter((key) => !others.some((other) => other.equals(key)));
  return { removed: without(old, current), added: without(current, old) };
}

/** Returns a key that sorts by time of deletion. */
export const expiryKey = (deleteAfter: number, id: string): Buffer => Buffer.concat([timePart(deleteAfter), idKey(id)]);

/** Returns the position before the entries that are due at `epochMs` or later. */
export const expiryBound = (epochMs: number): Buffer => timePart(epochMs);
