/**
 * Keys of the delivery queue in Redis, and what they hold. All keys of a source have one hash tag: a script reaches all
 * of them, and they fall back together when their server loses its last second.
 *
 * Per source, a hash `meta` (token, offset, its mark, sequence, size, how often it was changed, and the id of the batch
 * added last) and a sorted set `webhooks` of those that anything waits for. Per source and webhook, while anything
 * waits, a sorted set `places:` of `[dueAtMs f64][sequence f64][attempts u32]` and a hash `values:` by `[sequence
 * f64]`. All scores are 0, so that members sort by their bytes; numbers that aren't negative sort as their big-endian
 * bytes do. Per delivery that was asked for again, a string with the time of that, which expires.
 */
import type { DeliveryPlace, DeliverySource, WaitingDelivery } from '../../../pipeline/ports.js';
import { deriveId } from '../../../schemas/ids.js';

/** Largest delivery. Redis itself would take more. */
export const maxDeliveryBytes = 2 ** 20;

const sequenceAt = 8;
const attemptsAt = 16;
const memberBytes = 20;
const maxAttempts = 0xffff_ffff;

function checkWebhook(webhook: string): void {
  if (!/^[0-9a-f]{24}$/.test(webhook)) throw new Error(`${JSON.stringify(webhook)} is no webhook's id: 24 hex digits`);
}

/** Names of a source's keys. */
export class SourceKeys {
  readonly meta: string;
  readonly webhooks: string;
  readonly #stem: string;

  constructor(prefix: string, { topic, partition }: DeliverySource) {
    this.#stem = `${prefix}{deliveries.${topic}.${partition}}.`;
    this.meta = `${this.#stem}meta`;
    this.webhooks = `${this.#stem}webhooks`;
  }

  places(webhook: string): string {
    checkWebhook(webhook);
    return `${this.#stem}places:${webhook}`;
  }

  values(webhook: string): string {
    checkWebhook(webhook);
    return `${this.#stem}values:${webhook}`;
  }
}

export function healthKey(prefix: string, webhook: string): string {
  checkWebhook(webhook);
  return `${prefix}webhook.${webhook}`;
}

/** Those of one webhook have one hash tag, so that one command reads several. */
export function replacementKey(prefix: string, webhook: string, delivery: string): string {
  checkWebhook(webhook);
  return `${prefix}{replacements.${webhook}}.${deriveId(delivery)}`;
}

/** Throws on a time that can't be. */
export function encodeDue(dueAtMs: number): Buffer {
  if (!(dueAtMs >= 0)) throw new Error(`a delivery due at ${dueAtMs}; from 0`);
  const bytes = Buffer.allocUnsafe(sequenceAt);
  bytes.writeDoubleBE(dueAtMs, 0);
  return bytes;
}

/** Throws on a place that can't be. */
export function encodeMember({ dueAtMs, sequence }: Omit<DeliveryPlace, 'webhook'>, attempts: number): Buffer {
  if (!(dueAtMs >= 0 && sequence >= 0))
    throw new Error(`a delivery due at ${dueAtMs}, sequence ${sequence}; both from 0`);
  const member = Buffer.allocUnsafe(memberBytes);
  member.writeDoubleBE(dueAtMs, 0);
  member.writeDoubleBE(sequence, sequenceAt);
  member.writeUInt32BE(attempts, attemptsAt);
  return member;
}

/** What members that stand at the place begin with. */
export const encodePlace = (place: DeliveryPlace): Buffer => encodeMember(place, 0).subarray(0, attemptsAt);

/** The bound of a range of members that begins after all that stand at the place, whatever their attempts. */
export const boundAfter = (place: DeliveryPlace): Buffer =>
  Buffer.concat([Buffer.from('('), encodeMember(place, maxAttempts)]);

export const dueAtMsOf = (member: Buffer): number => member.readDoubleBE(0);

export const decodeWaiting = (webhook: string, member: Buffer, value: Buffer): WaitingDelivery => ({
  webhook,
  dueAtMs: dueAtMsOf(member),
  sequence: member.readDoubleBE(sequenceAt),
  attempts: member.readUInt32BE(attemptsAt),
  value,
});

/** Throws when it is too large. */
export function checkValue(value: Buffer): Buffer {
  if (value.length > maxDeliveryBytes)
    throw new Error(`a delivery of ${value.length} bytes; at most ${maxDeliveryBytes}`);
  return value;
}
