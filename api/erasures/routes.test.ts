import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSecretCipher, encryptionKeyBytes } from '../../pipeline/encryption.js';
import { hourMs } from '../../schemas/durations.js';
import { useApi } from '../testing/fixtures.js';

const time = { aheadMs: 0 };
const api = await useApi({ clock: () => Date.now() + time.aheadMs });

test('an erasure is accepted for any name, and shows its progress and not the name', async () => {
  const name = 'Ada%2F4711';
  const { status, body } = await api.call('DELETE', `/v1/users/${name}`);
  expect([status, body.meta.code]).toEqual([202, 202]);
  const { _id, createdAt } = body.erasure;
  expect(body.erasure).toEqual({ _id, createdAt, subject: 'user', status: 'running' });
  expect((await api.call('GET', `/v1/erasures/${_id}`)).body.erasure).toEqual(body.erasure);
  expect(JSON.stringify(api.readModel.allErasures())).not.toContain('Ada');
  const event = (await api.call('DELETE', '/v1/events/65f0a1b2c3d4e5f600000001')).body.erasure;
  expect(event.subject).toBe('event');
  expect((await api.call('GET', '/v1/erasures')).body).toMatchObject({
    meta: { hasMore: false },
    erasures: [event, body.erasure],
  });
});

test('regression: the erasure of a name that is too long for a device key was retried without end', async () => {
  const longest = 'a'.repeat(256);
  expect((await api.call('DELETE', `/v1/users/${longest}`)).status).toBe(202);
  const { status, body } = await api.call('DELETE', `/v1/users/${longest}a`);
  expect([status, body.meta.type, body.meta.param]).toEqual([400, 'invalid_parameter', 'id']);
});

// A misspelt id was accepted and reported as done, as if the event had been erased.
test('regression: the erasure of an event by what is no id is refused', async () => {
  const { status, body } = await api.call('DELETE', '/v1/events/65f0a1b2c3d4e5f60000001');
  expect([status, body.meta.type, body.meta.param]).toEqual([400, 'invalid_parameter', 'id']);
});

// It bore the time after the latest edit. Everything that its user sent in the hour afterwards was erased, too.
test('regression: an erasure after a clock was ahead is of the present', async () => {
  time.aheadMs = hourMs;
  const webhook = { url: 'https://webhooks.invalid/' };
  expect((await api.call('POST', '/v1/webhooks', { body: webhook })).status).toBe(200);
  time.aheadMs = 0;
  const { body } = await api.call('DELETE', '/v1/users/Ada');
  expect(Date.parse(body.erasure.createdAt)).toBeLessThanOrEqual(Date.now());
});

test('an erasure is of one project and environment, and needs a secret key', async () => {
  const { body } = await api.call('DELETE', '/v1/users/Ada');
  const path = `/v1/erasures/${body.erasure._id}`;
  const other = await api.newProject('Other');
  for (const key of [other.key('test', 'secret'), api.project.key('live', 'secret')]) {
    expect((await api.call('GET', path, { key })).status).toBe(404);
    expect((await api.call('GET', '/v1/erasures', { key })).body.erasures).toEqual([]);
  }
  for (const url of ['/v1/users/Ada', '/v1/events/65f0a1b2c3d4e5f600000001'])
    expect((await api.call('DELETE', url, { key: api.project.key('test', 'publishable') })).status).toBe(403);
});

// It stayed `running`.
test('regression: an erasure whose encryption key is lost has failed', async () => {
  const { body } = await api.call('DELETE', '/v1/users/Ada');
  const record = api.readModel.allErasures().find(({ _id }) => _id === body.erasure._id)!;
  const lost = createSecretCipher(randomBytes(encryptionKeyBytes)).encrypt('Ada', record._id);
  for (const [completedAt, status] of [
    [null, 'failed'],
    [1_000, 'done'],
  ] as const) {
    const changed = { ...record, target: lost, completedAt };
    await api.writer.write([{ kind: 'erasure', id: record._id, record: changed }]);
    expect((await api.call('GET', `/v1/erasures/${record._id}`)).body.erasure.status).toBe(status);
  }
});
