/**
 * Keys and values of the delivery queue in LMDB. Keys have a fixed width and sort by source, webhook, time due and
 * sequence. Times and sequences are doubles: numbers that aren't negative sort like their big-endian bytes.
 */
import {
  type DeliveryPlace,
  type DeliverySource,
  maxDeliveryBytes,
  unknownHealth,
  type WaitingDelivery,
  type WebhookHealth,
} from '../../pipeline/ports.js';
import { deriveId, isId } from '../../schemas/ids.js';
import { markAfter, numberValue } from './keys.js';

const topicCodes: Readonly<Record<DeliverySource['topic'], number>> = { events: 0, deliveries: 1 };

const sourceBytes = 3;
const webhookBytes = 12;
const dueAt = sourceBytes + webhookBytes;
const sequenceAt = dueAt + 8;
const placeBytes = sequenceAt + 8;

/** Greater than the first byte of any time. */
const aboveAllTimes = 0xff;

function writeSource(key: Buffer, { topic, partition }: DeliverySource): void {
  key[0] = topicCodes[topic];
  key.writeUInt16BE(partition, 1);
}

function writeWebhook(key: Buffer, webhook: string, position: number): void {
  if (!isId(webhook)) throw new Error(`${JSON.stringify(webhook)} is not a webhook id: 24 hex digits`);
  key.write(webhook, position, 'hex');
}

/** Returns the key `[topic u8][partition u16]` */
export function sourceKey(source: DeliverySource): Buffer {
  const key = Buffer.allocUnsafe(sourceBytes);
  writeSource(key, source);
  return key;
}

/** Returns the key `[webhook 12]` */
export function webhookKey(webhook: string): Buffer {
  const key = Buffer.allocUnsafe(webhookBytes);
  writeWebhook(key, webhook, 0);
  return key;
}

/** Returns the key `[topic u8][partition u16][webhook 12][dueAtMs f64][sequence f64]`. Throws on an invalid place. */
export function placeKey(source: DeliverySource, { webhook, dueAtMs, sequence }: DeliveryPlace): Buffer {
  if (!(dueAtMs >= 0 && sequence >= 0))
    throw new Error(`a delivery is due at ${dueAtMs} with sequence ${sequence}: both must be 0 or more`);
  const key = Buffer.allocUnsafe(placeBytes);
  writeSource(key, source);
  writeWebhook(key, webhook, sourceBytes);
  key.writeDoubleBE(dueAtMs, dueAt);
  key.writeDoubleBE(sequence, sequenceAt);
  return key;
}

/** Writes a sequence into the key of a place. */
export function setSequence(placeKey: Buffer, sequence: number): void {
  placeKey.writeDoubleBE(sequence, sequenceAt);
}

/** Decodes the place in a key. */
export const placeOfKey = (key: Buffer): DeliveryPlace => ({
  webhook: key.toString('hex', sourceBytes, dueAt),
  dueAtMs: key.readDoubleBE(dueAt),
  sequence: key.readDoubleBE(sequenceAt),
});

/** Returns a key after all places of the webhook and before those of the next. */
export function keyBeyondWebhook(source: DeliverySource, webhook: string): Buffer {
  const key = Buffer.allocUnsafe(dueAt + 1);
  writeSource(key, source);
  writeWebhook(key, webhook, sourceBytes);
  key[dueAt] = aboveAllTimes;
  return key;
}

/** Returns a key after all places of the source and before those of the next. */
export const keyBeyondSource = ({ topic, partition }: DeliverySource): Buffer =>
  sourceKey({ topic, partition: partition + 1 });

/** Returns the key `[webhook 12][delivery 12]`, the delivery by a hash of its id. */
export const replacementKey = (webhook: string, delivery: string): Buffer =>
  Buffer.concat([webhookKey(webhook), Buffer.from(deriveId(delivery), 'hex')]);

/** Returns the key `[createdAtMs f64]` with a replacement's key. */
export const replacementTimeKey = (createdAtMs: number, key: Buffer): Buffer =>
  Buffer.concat([numberValue(createdAtMs), key]);

/** Returns the key of the replacement, a view of the same bytes. */
export const replacementOfTimeKey = (timeKey: Buffer): Buffer => timeKey.subarray(8);

/** The state of a source's queue, beside its deliveries. */
export interface QueueState {
  readonly token: number;
  readonly nextOffset: number;
  readonly nextSequence: number;
  /** Number of queued deliveries. */
  readonly size: number;
  /** Mark of the position (`pipeline/positions.ts`). */
  readonly mark: string | null;
}

const emptyQueue: QueueState = { token: 0, nextOffset: 0, nextSequence: 0, size: 0, mark: null };
const queueStateBytes = 32;

/** Decodes a queue's state. Without a value the queue is empty. */
export function decodeQueueState(value: Buffer | undefined): QueueState {
  if (value === undefined) return emptyQueue;
  return {
    token: value.readDoubleBE(0),
    nextOffset: value.readDoubleBE(8),
    nextSequence: value.readDoubleBE(16),
    size: value.readDoubleBE(24),
    mark: markAfter(value, queueStateBytes),
  };
}

/** Encodes as `[token f64][next offset f64][next sequence f64][size f64]`, then the mark in UTF-8. */
export function encodeQueueState({ token, nextOffset, nextSequence, size, mark }: QueueState): Buffer {
  const value = Buffer.alloc(queueStateBytes + Buffer.byteLength(mark ?? ''));
  value.writeDoubleBE(token, 0);
  value.writeDoubleBE(nextOffset, 8);
  value.writeDoubleBE(nextSequence, 16);
  value.writeDoubleBE(size, 24);
  value.write(mark ?? '', queueStateBytes);
  return value;
}

const attemptsBytes = 4;

/** Throws when it is not a u32. */
export function encodeAttempts(attempts: number): Buffer {
  const bytes = Buffer.allocUnsafe(attemptsBytes);
  bytes.writeUInt32BE(attempts, 0);
  return bytes;
}

/** Encodes as `[attempts u32][delivery]`. Throws when the delivery is too large. */
export function encodeWaiting(attempts: number, delivery: Buffer): Buffer {
  if (delivery.length > maxDeliveryBytes)
    throw new Error(`a delivery has ${delivery.length} bytes: the limit is ${maxDeliveryBytes}`);
  return Buffer.concat([encodeAttempts(attempts), delivery]);
}

/** Decodes a delivery. Its value is a view of the same bytes. */
export const decodeWaiting = (key: Buffer, value: Buffer): WaitingDelivery => ({
  ...placeOfKey(key),
  attempts: value.readUInt32BE(0),
  value: value.subarray(attemptsBytes),
});

/** Encodes as `[failingSinceMs f64][lastSuccessAtMs f64]`, NaN for null. */
export function encodeHealth({ failingSinceMs, lastSuccessAtMs }: WebhookHealth): Buffer {
  const value = Buffer.allocUnsafe(16);
  value.writeDoubleBE(failingSinceMs ?? Number.NaN, 0);
  value.writeDoubleBE(lastSuccessAtMs ?? Number.NaN, 8);
  return value;
}

/** Returns the newer of both times, epoch ms; -Infinity if there is none. */
export const newerTimeOf = ({ failingSinceMs, lastSuccessAtMs }: WebhookHealth): number =>
  Math.max(failingSinceMs ?? Number.NEGATIVE_INFINITY, lastSuccessAtMs ?? Number.NEGATIVE_INFINITY);

/** Decodes a webhook's health. Without a value nothing is known. */
export function decodeHealth(value: Buffer | undefined): WebhookHealth {
  if (value === undefined) return unknownHealth;
  const timeAt = (position: number): number | null => {
    const timeMs = value.readDoubleBE(position);
    return Number.isNaN(timeMs) ? null : timeMs;
  };
  return { failingSinceMs: timeAt(0), lastSuccessAtMs: timeAt(8) };
}
