import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import type { WebhookSecretRecord } from '../../../schemas/json/webhook.js';
import type { Delivery } from '../../../schemas/records.js';
import { createSecretCipher, encryptionKeyBytes } from '../../encryption.js';
import { deliveriesOf } from '../../records/deliveries.js';
import { createSigner } from './signing.js';
import { secretCipher, secretRecord, secretText, webhookId, webhookRecord } from './testing/webhooks.js';

const sign = createSigner(secretCipher);
const nowMs = Date.now();
const id = webhookId(1);
const webhookWith = (...secrets: WebhookSecretRecord[]) => webhookRecord({ _id: id, secrets });
const event = { id: 'a'.repeat(24), locationId: null, orderKey: 'device', text: '{"name":"caf\u00e9"}' };
const [delivery] = deliveriesOf(webhookWith(), [event], undefined, { reason: 'event', createdAt: 1 }) as [Delivery];

const isVerifiedBy = (secret: string, headers: object, body = delivery.body): boolean => {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
};

describe('Standard Webhooks, checked with an independent implementation', () => {
  test('a request verifies with its secret and with no other', () => {
    const headers = sign(webhookWith(secretRecord(id, 1)), delivery, nowMs)!;
    expect(isVerifiedBy(secretText(1), headers)).toBe(true);
    expect(isVerifiedBy(secretText(2), headers)).toBe(false);
  });

  test('another body, id or time does not verify', () => {
    const headers = sign(webhookWith(secretRecord(id, 1)), delivery, nowMs)!;
    expect(isVerifiedBy(secretText(1), headers, Buffer.from('{}'))).toBe(false);
    expect(isVerifiedBy(secretText(1), { ...headers, 'webhook-id': 'other' })).toBe(false);
    expect(isVerifiedBy(secretText(1), { ...headers, 'webhook-timestamp': `${Math.floor(nowMs / 1_000) - 1}` })).toBe(
      false,
    );
  });

  test('both secrets verify during a rotation', () => {
    const webhook = webhookWith(secretRecord(id, 2), secretRecord(id, 1, { expiresAt: nowMs + 1 }));
    const headers = sign(webhook, delivery, nowMs)!;
    expect([1, 2].map((number) => isVerifiedBy(secretText(number), headers))).toEqual([true, true]);
  });

  test('an expired secret does not sign', () => {
    const webhook = webhookWith(secretRecord(id, 2), secretRecord(id, 1, { expiresAt: nowMs }));
    const headers = sign(webhook, delivery, nowMs)!;
    expect([1, 2].map((number) => isVerifiedBy(secretText(number), headers))).toEqual([false, true]);
  });
});

describe('the compatible signature', () => {
  const expected = (number: number) => createHmac('sha1', secretText(number)).update(event.id).digest('hex');

  test('covers the id of the first event, keyed by the text of the newest secret', () => {
    const webhook = webhookWith(secretRecord(id, 2), secretRecord(id, 1, { expiresAt: nowMs + 1 }));
    expect(sign(webhook, delivery, nowMs)).toMatchObject({
      'x-radar-signing-id': event.id,
      'x-radar-signature': expected(2),
    });
  });
});

describe('with another encryption key', () => {
  const otherCipher = createSecretCipher(Buffer.alloc(encryptionKeyBytes, 8));
  const signAnew = createSigner(otherCipher);
  const lost = (expiresAt: number | null) => secretRecord(id, 1, { expiresAt });
  const fresh = secretRecord(id, 2, { sealed: otherCipher.encrypt(secretText(2), id) });

  test('nothing is signed while the newest secret cannot be decrypted', () => {
    expect(signAnew(webhookWith(lost(null)), delivery, nowMs)).toBeUndefined();
    expect(signAnew(webhookWith(lost(null), { ...fresh, expiresAt: nowMs + 1 }), delivery, nowMs)).toBeUndefined();
  });

  test.each([1, 0])('a new secret signs alone, while the lost one would sign for %i ms more', (remainingMs) => {
    const headers = signAnew(webhookWith(fresh, lost(nowMs + remainingMs)), delivery, nowMs)!;
    expect(isVerifiedBy(secretText(2), headers)).toBe(true);
    expect(headers['webhook-signature']).not.toContain(' ');
  });
});
