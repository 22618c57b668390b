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
  /** Undefined: the secret was encrypted with another encryption key. */
  readonly keys: SecretKeys | undefined;
  /** Epoch ms; Infinity: never. */
  readonly expiresAt: number;
}

interface SecretKeys {
  /** The decoded base64 part of the secret. */
  readonly decoded: KeyObject;
  /** The text of the secret as issued. */
  readonly text: KeyObject;
}

/** Header values by their names in lower case. */
export type Headers = Readonly<Record<string, string>>;

/**
 * Signs a delivery as of `nowMs`, epoch ms. Returns undefined when the newest secret can't be decrypted with this
 * installation's encryption key. Older ones that can't are left out, so a rotation is enough after the loss of the key.
 */
type Sign = (webhook: WebhookRecord, delivery: Delivery, nowMs: number) => Headers | undefined;

/** Creates a signer that decrypts the secrets of each record once. */
export function createSigner(secretCipher: SecretCipher): Sign {
  const opened = new WeakMap<WebhookRecord, readonly OpenSecret[]>();

  function secretsOf(webhook: WebhookRecord): readonly OpenSecret[] {
    const secrets = opened.get(webhook) ?? openSecrets(webhook, secretCipher);
    opened.set(webhook, secrets);
    return secrets;
  }

  return (webhook, { id, events, body }, nowMs) => {
    const live = secretsOf(webhook).filter(({ expiresAt }) => nowMs < expiresAt);
    const [newest] = live;
    if (newest !== undefined && newest.keys === undefined) return undefined;
    const timestamp = String(Math.floor(nowMs / 1_000));
    const signed = live
      .flatMap(({ keys }) => keys ?? [])
      .map(
        ({ decoded }) =>
          `v1,${createHmac('sha256', decoded).update(`${id}.${timestamp}.`).update(body).digest('base64')}`,
      );
    const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signed.join(' ') };
    if (newest?.keys === undefined) return headers;
    const signingId = events[0] ?? id;
    const signature = createHmac('sha1', newest.keys.text).update(signingId).digest('hex');
    return { ...headers, 'x-radar-signing-id': signingId, 'x-radar-signature': signature };
  };
}

/** Decrypts the secrets of a record, newest first as there. */
const openSecrets = ({ _id, secrets }: WebhookRecord, secretCipher: SecretCipher): OpenSecret[] =>
  secrets.map(({ sealed, expiresAt }) => ({
    keys: keysOf(sealed, _id, secretCipher),
    expiresAt: expiresAt ?? Number.POSITIVE_INFINITY,
  }));

/** Returns the keys of a secret, or undefined if it was encrypted with another key. */
function keysOf(sealed: string, owner: string, secretCipher: SecretCipher): SecretKeys | undefined {
  const text = secretCipher.decrypt(sealed, owner);
  if (text === undefined) return undefined;
  return {
    decoded: createSecretKey(Buffer.from(text.slice(secretPrefix.length), 'base64')),
    text: createSecretKey(Buffer.from(text)),
  };
}
