/**
 * The secrets that sign a webhook's requests, as Standard Webhooks defines them, newest first. The first signs until it
 * is replaced, the others until their `expiresAt`.
 */
import { randomBytes } from 'node:crypto';
import type { SecretCipher } from '../../pipeline/encryption.js';
import { hourMs } from '../../schemas/durations.js';
import { freshId } from '../../schemas/ids.js';
import type { WebhookSecretRecord } from '../../schemas/json/webhook.js';
import type { IssuedSecret } from '../../schemas/wire/webhook.js';

/** Longest time that an earlier secret signs as well after a rotation: 30 days. */
export const maxOverlapHours = 720;
/** Time that an earlier secret signs as well, unless a rotation gives another. */
export const defaultOverlapHours = 24;

const prefix = 'whsec_';
const secretBytes = 32;

/** Generates a secret of 256 random bits, encrypted for this webhook. */
export function newSecret(webhook: string, secretCipher: SecretCipher, nowMs: number): IssuedSecret {
  const secret = prefix + randomBytes(secretBytes).toString('base64');
  const record = {
    _id: freshId(nowMs),
    sealed: secretCipher.encrypt(secret, webhook),
    hint: `${prefix}…${secret.slice(-4)}`,
    createdAt: nowMs,
    expiresAt: null,
  };
  return { record, secret };
}

/**
 * Returns the secrets with a new one in front, which may be more than a record can have. The others sign for at most
 * `overlapHours` more. Expired secrets are dropped.
 */
export function rotate(
  secrets: readonly WebhookSecretRecord[],
  newest: WebhookSecretRecord,
  overlapHours: number,
  nowMs: number,
): WebhookSecretRecord[] {
  const endMs = Math.round(nowMs + overlapHours * hourMs);
  const others = secrets.map((secret) => ({ ...secret, expiresAt: Math.min(secret.expiresAt ?? endMs, endMs) }));
  return [newest, ...others.filter(({ expiresAt }) => expiresAt > nowMs)];
}
