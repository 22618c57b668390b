/**
 * Binary keys of the read model's databases. Every part has a fixed width, so that keys compare byte by byte as their
 * parts do: ids 12 bytes (24 hex digits), environment 1, times 6 (epoch ms, big-endian), tags and external ids 12
 * (hashed: they have no bound on their length, a key does).
 */
import { deriveId } from '../../../schemas/ids.js';
import type { BeaconRecord } from '../../../schemas/json/beacon.js';
import type { GeofenceRecord } from '../../../schemas/json/geofence.js';
import type { Scope } from '../types.js';

export type ListedKind = 'geofence' | 'beacon';

/** Lists by time, and the things that carry an external id, which are few: in no order. */
const listNames = ['createdAt', 'updatedAt', 'tag/createdAt', 'tag/updatedAt', 'externalId'] as const;
export type ListName = (typeof listNames)[number];

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

/** What all keys of one list start with. `value` is the tag or external id that the list is of. */
export const listPrefix = (kind: ListedKind, scope: Scope, name: ListName, value?: string): Buffer =>
  Buffer.concat([
    Buffer.of((kind === 'geofence' ? 0 : 8) + listNames.indexOf(name)),
    scopePart(scope),
    ...(value === undefined ? [] : [idKey(deriveId(value))]),
  ]);

/** Where `epochMs` begins in a list: before every entry of that time. */
export const listPosition = (prefix: Buffer, epochMs: number): Buffer => Buffer.concat([prefix, timePart(epochMs)]);

export const idOfListKey = (key: Buffer): string => key.toString('hex', key.length - idBytes);

/** After every key that starts with the prefix. */
export const endOfList = (prefix: Buffer): Buffer => Buffer.concat([prefix, Buffer.alloc(timeBytes + idBytes, 0xff)]);

/** The keys under which a record is listed. */
export function listKeys(kind: ListedKind, record: GeofenceRecord | BeaconRecord): Buffer[] {
  const id = idKey(record._id);
  const created = timePart(record.createdAt);
  const updated = timePart(record.updatedAt);
  const key = (name: ListName, value: string | undefined, ...rest: Buffer[]) =>
    Buffer.concat([listPrefix(kind, record, name, value), ...rest, id]);
  const keys = [key('createdAt', undefined, created), key('updatedAt', undefined, updated)];
  if (record.tag !== null)
    keys.push(key('tag/createdAt', record.tag, created), key('tag/updatedAt', record.tag, updated));
  if (record.externalId !== null) keys.push(key('externalId', record.externalId));
  return keys;
}

/** By time of deletion. */
export const expiryKey = (deleteAfter: number, id: string): Buffer => Buffer.concat([timePart(deleteAfter), idKey(id)]);

/** Just before the first entry that is due later than `epochMs`. */
export const expiryBound = (epochMs: number): Buffer => timePart(epochMs);
