import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hourMs } from '../../schemas/durations.js';
import { deriveId } from '../../schemas/ids.js';
import { maxWebhookSecrets, type WebhookSecretRecord } from '../../schemas/json/webhook.js';
import { type Body, useApi, webhookParts } from '../testing/fixtures.js';
import { maxOverlapHours, rotate } from './secrets.js';

const parts = webhookParts({ maxWebhooks: 100 });
let nowMs = Date.UTC(2026, 0, 1);
const api = await useApi({ webhooks: parts, clock: () => nowMs });

const create = async (): Promise<Body> =>
  (await api.call('POST', '/v1/webhooks', { body: { url: 'https://example.com/' } })).body.webhook;
const rotated = (id: string, body: object | string = {}) => api.call('POST', `/v1/webhooks/${id}/secrets`, { body });
const recordOf = (id: string) =>
  api.readModel.webhooks({ project: api.project.record._id, environment: 'test' }).find(({ _id }) => _id === id)!;

describe('rotation', () => {
  test('shows the new secret once, first; the previous one signs for one more day', async () => {
    const { _id, secrets } = await create();
    const { status, body } = await rotated(_id);
    expect(status).toBe(200);
    const [newest, before] = body.webhook.secrets;
    expect(newest).toMatchObject({ secret: expect.stringMatching(/^whsec_/) });
    expect(newest).not.toHaveProperty('expiresAt');
    const { secret: first, ...shown } = secrets[0];
    expect(before).toEqual({
      ...shown,
      expiresAt: new Date(Date.parse(body.webhook.updatedAt) + 24 * hourMs).toISOString(),
    });
    const sealed = recordOf(_id).secrets.map((secret) => parts.secretCipher.decrypt(secret.sealed, _id));
    expect(sealed).toEqual([newest.secret, first]);
  });

  test('without overlap keeps only the new secret', async () => {
    const { _id } = await create();
    expect((await rotated(_id, 'overlapHours=0')).body.webhook.secrets).toHaveLength(1);
  });

  test('drops expired secrets', async () => {
    const { _id } = await create();
    await rotated(_id, { overlapHours: 1 });
    nowMs += 2 * hourMs;
    const { webhook } = (await rotated(_id, { overlapHours: 5 })).body;
    expect(webhook.secrets).toHaveLength(2);
  });

  // The oldest secret was dropped, and receivers that had it refused requests before the announced end.
  test('never ends a secret early for a sixth, and says how to go on', async () => {
    const { _id } = await create();
    for (let number = 1; number < maxWebhookSecrets; number++) expect((await rotated(_id)).status).toBe(200);
    const before = recordOf(_id);
    expect(await rotated(_id)).toMatchObject({
      status: 409,
      body: { meta: { message: expect.stringMatching(/^5 secrets sign already; remove .*hours 0/i) } },
    });
    expect(recordOf(_id)).toEqual(before);
    const oldest = before.secrets.at(-1)!._id;
    expect((await api.call('DELETE', `/v1/webhooks/${_id}/secrets/${oldest}`)).status).toBe(200);
    expect((await rotated(_id)).body.webhook.secrets).toHaveLength(maxWebhookSecrets);
    expect((await rotated(_id, { overlapHours: 0 })).body.webhook.secrets).toHaveLength(1);
  });

  /** Every secret ever created, with the last moment at which it may sign after any rotation. */
  test('lets each sign until the earliest end that a rotation set', () => {
    const steps = fc.array(fc.tuple(fc.nat(48 * hourMs), fc.integer({ min: 0, max: 72 })), { maxLength: 20 });
    fc.assert(
      fc.property(steps, (history) => {
        const newSecret = (number: number): WebhookSecretRecord => ({
          _id: deriveId('secret', `${number}`),
          sealed: '',
          hint: '',
          createdAt: number,
          expiresAt: null,
        });
        const all = [{ id: newSecret(0)._id, end: Infinity }];
        let secrets = [newSecret(0)];
        let time = 0;
        for (const [elapsedMs, overlapHours] of history) {
          time += elapsedMs;
          for (const one of all) one.end = Math.min(one.end, time + overlapHours * hourMs);
          const newest = newSecret(all.length);
          all.push({ id: newest._id, end: Infinity });
          secrets = rotate(secrets, newest, overlapHours, time);
          const expected = all.filter(({ end }) => end > time).reverse();
          expect(secrets.map(({ _id, expiresAt }) => ({ id: _id, end: expiresAt ?? Infinity }))).toEqual(expected);
        }
      }),
    );
  });

  test.each([
    [{ overlapHours: -1 }, 'overlapHours', `overlapHours: must be a number from 0 to ${maxOverlapHours} hours`],
    [{ overlapHours: 721 }, 'overlapHours', `overlapHours: must be a number from 0 to ${maxOverlapHours} hours`],
    [{ overlap: 1 }, 'overlap', 'overlap: is not a known field; known are overlapHours'],
  ])('refuses %j', async (body, param, message) => {
    const { _id } = await create();
    expect(await rotated(_id, body)).toMatchObject({ status: 400, body: { meta: { param, message } } });
    expect(recordOf(_id).secrets).toHaveLength(1);
  });
});

describe('removal', () => {
  const remove = (id: string, secret: string) => api.call('DELETE', `/v1/webhooks/${id}/secrets/${secret}`);

  test('removes a replaced secret at once, but never the newest', async () => {
    const { _id } = await create();
    const [newest, before] = (await rotated(_id)).body.webhook.secrets;
    expect((await remove(_id, newest._id)).status).toBe(409);
    expect((await remove(_id, before._id)).body.webhook.secrets).toHaveLength(1);
    expect((await remove(_id, before._id)).status).toBe(404);
    expect((await remove(_id, newest._id)).status).toBe(409);
    expect(recordOf(_id).secrets.map((secret) => secret._id)).toEqual([newest._id]);
  });
});

test('a secret is shown once, and its record never', async () => {
  const { _id, secrets } = await create();
  const { webhook } = (await rotated(_id)).body;
  const told = [secrets[0].secret, webhook.secrets[0].secret];
  const later = await Promise.all([
    api.call('GET', `/v1/webhooks/${_id}`),
    api.call('GET', '/v1/webhooks'),
    api.call('PUT', `/v1/webhooks/${_id}`, { body: { description: 'x' } }),
    api.call('DELETE', `/v1/webhooks/${_id}/secrets/${webhook.secrets[1]._id}`),
  ]);
  const text = JSON.stringify(later);
  expect(later.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(text).toContain(_id);
  expect(text).not.toContain('sealed');
  expect(text).not.toContain('"secret"');
  for (const secret of told) expect(text).not.toContain(secret);
  expect(JSON.stringify(webhook)).not.toContain(told[0]);
  expect(JSON.stringify(recordOf(_id))).not.toContain(told[1].slice('whsec_'.length));
});
