/**
 * Signs requests, so that receivers can verify them.
 *
 * Standard Webhooks (standardwebhooks.com, version 1): `webhook-signature` covers id, time and body, once per live
 * secret, so that secrets can be rotated without downtime. For receivers built for the platform of existing SDKs there
 * is also `x-radar-signature`: the hexadecimal HMAC-SHA1 of `x-radar-signing-id`, which does not cover the body.
 */
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { WebhookRecord } from '../../../schemas/json/webhook.js';
import type { Delivery } from '../../../schemas/records.js';
import type { SecretCipher } from '../../encryption.js';

const secretPrefix = 'whsec_';

interface OpenSecret {
  /** The decoded base64 part of the secret. */
  readonly key: KeyObject;
  /** The text of the secret as issued. */
  readonly textKey: KeyObject;
  readonly createdAt: number;
  /** Epoch ms; Infinity: never. */
  readonly expiresAt: number;
}

/** Header values by their names in lower case. */
export type Headers = Readonly<Record<string, string>>;

/**
 * Signs a delivery as of `nowMs`, epoch ms. Returns undefined when the webhook's secrets can't be decrypted with this
 * installation's encryption key.
 */
type Sign = (webhook: WebhookRecord, delivery: Delivery, nowMs: number) => Headers | undefined;

/** Creates a signer that decrypts the secrets of each record once. */
export function createSigner(secretCipher: SecretCipher): Sign {
  const opened = new WeakMap<WebhookRecord, readonly OpenSecret[] | undefined>();

  function secretsOf(webhook: WebhookRecord): readonly OpenSecret[] | undefined {
    if (!opened.has(webhook)) opened.set(webhook, openSecrets(webhook, secretCipher));
    return opened.get(webhook);
  }

  return (webhook, { id, events, body }, nowMs) => {
    const secrets = secretsOf(webhook);
    if (secrets === undefined) return undefined;
    const live = secrets.filter(({ expiresAt }) => nowMs < expiresAt);
    const timestamp = String(Math.floor(nowMs / 1_000));
    const signed = live.map(
      ({ key }) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`,
    );
    const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signed.join(' ') };
    const [newest] = live;
    if (newest === undefined) return headers;
    const signingId = events[0] ?? id;
    const signature = createHmac('sha1', newest.textKey).update(signingId).digest('hex');
    return { ...headers, 'x-radar-signing-id': signingId, 'x-radar-signature': signature };
  };
}

/** Decrypts the secrets, newest first; undefined when one can't be decrypted. */
function openSecrets({ _id, secrets }: WebhookRecord, secretCipher: SecretCipher): OpenSecret[] | undefined {
  try {
    return secrets
      .map(({ sealed, createdAt, expiresAt }) => {
        const text = secretCipher.decrypt(sealed, _id);
        return {
          key: createSecretKey(Buffer.from(text.slice(secretPrefix.length), 'base64')),
          textKey: createSecretKey(Buffer.from(text)),
          createdAt,
          expiresAt: expiresAt ?? Number.POSITIVE_INFINITY,
        };
      })
      .sort((a, b) => b.createdAt - a.createdAt);
  } catch {
    return undefined;
  }
}
