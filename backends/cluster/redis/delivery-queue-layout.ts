/**
 * The keys of the delivery queue in Redis, and their values. All keys of a source share a hash tag, so that one script
 * reaches them all, and they lose the same last second when their server fails.
 *
 * - Per source, a hash `meta`: token, offset, its mark, sequence, size, number of changes, and id of the last batch.
 * - Per source, a sorted set `webhooks` of the webhooks with queued deliveries.
 * - Per source and webhook with queued deliveries, a sorted set `places:` of
 *   `[dueAtMs f64][sequence f64][attempts u32]` and a hash `values:` by `[sequence f64]`. All scores are 0, so that
 *   members sort by their bytes: numbers that are not negative sort like their big-endian bytes.
 * - Per replaced delivery, a string with the time of the replacement, which expires.
 */
import {
  type DeliveryPlace,
  type DeliverySource,
  maxDeliveryBytes,
  type WaitingDelivery,
} from '../../../pipeline/ports.js';
import { deriveId, isId } from '../../../schemas/ids.js';

const sequenceAt = 8;
const attemptsAt = 16;
const memberBytes = 20;
const maxAttempts = 0xffff_ffff;

function checkWebhook(webhook: string): void {
  if (!isId(webhook)) throw new Error(`${JSON.stringify(webhook)} is not a webhook id: 24 hex digits`);
}

/** The names of a source's keys. */
export class SourceKeys {
  readonly meta: string;
  readonly webhooks: string;
  readonly #stem: string;

  constructor(prefix: string, { topic, partition }: DeliverySource) {
    this.#stem = `${prefix}{deliveries.${topic}.${partition}}.`;
    this.meta = `${this.#stem}meta`;
    this.webhooks = `${this.#stem}webhooks`;
  }

  /** Returns the key of the places of a webhook's deliveries. */
  places(webhook: string): string {
    checkWebhook(webhook);
    return `${this.#stem}places:${webhook}`;
  }

  /** Returns the key of a webhook's deliveries by sequence. */
  values(webhook: string): string {
    checkWebhook(webhook);
    return `${this.#stem}values:${webhook}`;
  }
}

/** Returns the key of a webhook's health. Throws for anything but 24 hex digits. */
export function healthKey(prefix: string, webhook: string): string {
  checkWebhook(webhook);
  return `${prefix}webhook.${webhook}`;
}

/** Returns a key. All of a webhook share a hash tag, so that one command reads several. */
export function replacementKey(prefix: string, webhook: string, delivery: string): string {
  checkWebhook(webhook);
  return `${prefix}{replacements.${webhook}}.${deriveId(delivery)}`;
}

/** Throws on an invalid time. */
export function encodeDue(dueAtMs: number): Buffer {
  if (!(dueAtMs >= 0)) throw new Error(`a delivery is due at ${dueAtMs}: must be 0 or later`);
  const bytes = Buffer.allocUnsafe(sequenceAt);
  bytes.writeDoubleBE(dueAtMs, 0);
  return bytes;
}

/** Throws on an invalid place. */
export function encodeMember({ dueAtMs, sequence }: Omit<DeliveryPlace, 'webhook'>, attempts: number): Buffer {
  if (!(dueAtMs >= 0 && sequence >= 0))
    throw new Error(`a delivery is due at ${dueAtMs} with sequence ${sequence}: both must be 0 or more`);
  const member = Buffer.allocUnsafe(memberBytes);
  member.writeDoubleBE(dueAtMs, 0);
  member.writeDoubleBE(sequence, sequenceAt);
  member.writeUInt32BE(attempts, attemptsAt);
  return member;
}

/** Returns the prefix of the members at the place. */
export const encodePlace = (place: DeliveryPlace): Buffer => encodeMember(place, 0).subarray(0, attemptsAt);

/** Returns the lower bound of the members after the place, whatever their attempts. */
export const boundAfter = (place: DeliveryPlace): Buffer =>
  Buffer.concat([Buffer.from('('), encodeMember(place, maxAttempts)]);

/** Returns the time due of a member of `places:`, epoch ms. */
export const dueAtMsOf = (member: Buffer): number => member.readDoubleBE(0);

/** Decodes a delivery from its member of `places:` and its value. */
export const decodeWaiting = (webhook: string, member: Buffer, value: Buffer): WaitingDelivery => ({
  webhook,
  dueAtMs: dueAtMsOf(member),
  sequence: member.readDoubleBE(sequenceAt),
  attempts: member.readUInt32BE(attemptsAt),
  value,
});

/** Returns the value. Throws when it is too large. */
export function checkValue(value: Buffer): Buffer {
  if (value.length > maxDeliveryBytes)
    throw new Error(`a delivery has ${value.length} bytes: the limit is ${maxDeliveryBytes}`);
  return value;
}
