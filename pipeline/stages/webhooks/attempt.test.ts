import { describe, expect, test } from 'vitest';
import { codecs } from '../../../schemas/codecs.js';
import type { AttemptResult } from '../../../schemas/json/webhook.js';
import type { Attempt, Delivery } from '../../../schemas/records.js';
import { createSecretCipher, encryptionKeyBytes } from '../../encryption.js';
import type { NewRecord } from '../../ports.js';
import { deliveriesOf } from '../../records/deliveries.js';
import { createSendAttempt, createSingleAttempt } from './attempt.js';
import { answer, failure, ScriptedClient } from './testing/scripted-client.js';
import { secretCipher, webhookRecord } from './testing/webhooks.js';

const webhook = webhookRecord();
const event = { id: 'a'.repeat(24), locationId: null, orderKey: 'device', text: '{}' };
const [delivery] = deliveriesOf(webhook, [event], undefined, { reason: 'test', createdAt: 1 }) as [Delivery];
const client = new ScriptedClient();
const clock = () => 1_700_000_000_500;
const sendAttempt = createSendAttempt({ client, secretCipher, clock });

const outcome = (given: Parameters<typeof answer>) => {
  client.answering = () => answer(...given);
  return sendAttempt(webhook, delivery);
};

describe('an attempt', () => {
  test.each<[number, AttemptResult]>([
    [200, 'delivered'],
    [204, 'delivered'],
    [299, 'delivered'],
    [301, 'redirected'],
    [400, 'refused'],
    [410, 'gone'],
    [429, 'refused'],
    [503, 'refused'],
  ])('with response %i is %s', async (status, result) =>
    expect(await outcome([status])).toMatchObject({ status, result }),
  );

  test('without a response records the reason', async () => {
    client.answering = () => failure;
    expect(await sendAttempt(webhook, delivery)).toMatchObject({
      result: 'timed_out',
      message: 'too slow',
      status: null,
    });
  });

  test('sends the body unchanged, signed with the time of the attempt', async () => {
    await outcome([200]);
    const { url, body, headers } = client.requests.at(-1)!;
    expect([url, body]).toEqual([webhook.url, delivery.body.toString()]);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': delivery.id,
      'webhook-timestamp': '1700000000',
    });
  });

  test('records the beginning of the response', async () => {
    const headers = { 'retry-after': '7', large: 'x'.repeat(5_000), small: 'y' };
    const { responseHeaders, responseBody, retryAfter } = await outcome([500, headers, 'z'.repeat(5_000)]);
    expect(retryAfter).toBe('7');
    expect(JSON.parse(responseHeaders!)).not.toHaveProperty('large');
    expect(responseBody?.toString()).toBe('z'.repeat(1_024));
  });

  test('sends nothing when the secrets cannot be decrypted', async () => {
    const sent = client.requests.length;
    const stranger = createSendAttempt({
      client,
      clock,
      secretCipher: createSecretCipher(Buffer.alloc(encryptionKeyBytes, 9)),
    });
    expect(await stranger(webhook, delivery)).toMatchObject({ result: 'secret_unreadable', status: null });
    expect(client.requests).toHaveLength(sent);
  });
});

describe('a single attempt', () => {
  const appended: Attempt[] = [];
  const log = {
    append: async (_: string, records: readonly NewRecord[]) =>
      void appended.push(...records.map(({ value }) => codecs.attempt.decode(value!))),
  };
  const tryOnce = createSingleAttempt({ client, secretCipher, clock, log });

  test('is recorded before it resolves, and is not retried', async () => {
    client.answering = () => answer(500);
    const failed = await tryOnce(webhook, delivery);
    expect(failed).toMatchObject({ attempt: 1, result: 'refused', state: 'given_up', nextAttemptAt: null });
    client.answering = () => answer(200);
    expect(await tryOnce(webhook, delivery)).toMatchObject({ state: 'delivered' });
    expect(appended.map(({ state }) => state)).toEqual(['given_up', 'delivered']);
    expect(appended[0]?.id).toBe(failed.id);
  });
});
