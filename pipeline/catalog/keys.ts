/**
 * Binary keys of the view's databases. Every part has a fixed width, so that keys compare byte by byte as their parts do:
 * ids 12 bytes (24 hex digits), environment 1, times 6 (epoch ms, big-endian), tags and external ids 12 (hashed: they have no
 * bound on their length, a key does).
 */
import { deriveId } from '../../schemas/ids.js';
import type { BeaconRecord } from '../../schemas/json/beacon.js';
import type { GeofenceRecord } from '../../schemas/json/geofence.js';
import type { Scope } from './types.js';

export type ListedKind = 'geofence' | 'beacon';
export type ListOrder = 'createdAt' | 'updatedAt';
export type ListFilter = 'none' | 'tag' | 'externalId';

const idBytes = 12;
const timeBytes = 6;
const maxTime = 2 ** 48 - 1;
const idPattern = /^[0-9a-f]{24}$/;

/** Is this text an id that can be a key? */
export const isId = (text: string): boolean => idPattern.test(text);

/** Throws on anything but 24 hex digits: a key of another length would be another thing's key. */
export function idKey(id: string): Buffer {
  if (!isId(id)) throw new Error(`not an id of 24 hex digits: ${id}`);
  return Buffer.from(id, 'hex');
}

function timePart(epochMs: number): Buffer {
  const part = Buffer.allocUnsafe(timeBytes);
  part.writeUIntBE(Math.min(Math.max(Math.floor(epochMs), 0), maxTime), 0, timeBytes);
  return part;
}

const scopePart = ({ project, environment }: Scope): Buffer =>
  Buffer.concat([idKey(project), Buffer.of(environment === 'live' ? 1 : 0)]);

/** Scope, then id: all fences of a scope lie together. */
export const scopedIdKey = (scope: Scope, id: string): Buffer => Buffer.concat([scopePart(scope), idKey(id)]);

export function parseScopedIdKey(key: Buffer): Scope & { id: string } {
  const environment = key[idBytes] === 1 ? 'live' : 'test';
  return { project: key.toString('hex', 0, idBytes), environment, id: key.toString('hex', idBytes + 1) };
}

const listNumber = (kind: ListedKind, order: ListOrder, filter: ListFilter): number =>
  (kind === 'geofence' ? 0 : 8) + (order === 'createdAt' ? 0 : 4) + { none: 0, tag: 1, externalId: 2 }[filter];

/** What all keys of one list start with. `filterValue` is the tag or external id asked for. */
export const listPrefix = (kind: ListedKind, scope: Scope, order: ListOrder, filter: ListFilter, filterValue = ''): Buffer =>
  Buffer.concat([
    Buffer.of(listNumber(kind, order, filter)),
    scopePart(scope),
    ...(filter === 'none' ? [] : [idKey(deriveId(filterValue))]),
  ]);

/** Where `epochMs` begins in a list: before every entry of that time. */
export const listPosition = (prefix: Buffer, epochMs: number): Buffer => Buffer.concat([prefix, timePart(epochMs)]);

export const idOfListKey = (key: Buffer): string => key.toString('hex', key.length - idBytes);

/** The keys under which a record is listed: by both times, alone, within its tag, and within its external id. */
export function listKeys(kind: ListedKind, record: GeofenceRecord | BeaconRecord): Buffer[] {
  const id = idKey(record._id);
  const keys: Buffer[] = [];
  for (const order of ['createdAt', 'updatedAt'] as const) {
    const add = (filter: ListFilter, value?: string) =>
      keys.push(Buffer.concat([listPrefix(kind, record, order, filter, value), timePart(record[order]), id]));
    add('none');
    if (record.tag !== null) add('tag', record.tag);
    if (record.externalId !== null) add('externalId', record.externalId);
  }
  return keys;
}

/** By time of deletion. */
export const expiryKey = (deleteAfter: number, id: string): Buffer => Buffer.concat([timePart(deleteAfter), idKey(id)]);

/** Just before the first entry that is due later than `epochMs`. */
export const expiryBound = (epochMs: number): Buffer => timePart(epochMs);
