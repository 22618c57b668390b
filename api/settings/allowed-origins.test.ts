import { expect, test } from 'vitest';
import { mapParts, useApi } from '../testing/fixtures.js';

const api = await useApi({ maps: mapParts() });
const publishable = api.project.key('test', 'publishable');

const allow = (allowedOrigins: unknown) => api.call('PATCH', '/v1/settings', { body: { allowedOrigins } });
/** Any route for publishable keys: an admitted call fails because of its missing parameters. */
const ask = async (headers: Record<string, string>, key = publishable) =>
  (await api.call('GET', '/maps/static', { key, headers })).body.meta.type;

test('pages of other origins may not use a publishable key; programs and secret keys may', async () => {
  const page = { origin: 'https://evil.example' };
  expect(await ask(page)).toBe('invalid_parameter');
  expect((await allow(['https://Example.com', 'http://localhost:3000/'])).body.settings.allowedOrigins).toEqual([
    'https://example.com',
    'http://localhost:3000',
  ]);
  for (const headers of [{ origin: 'https://example.com' }, { referer: 'http://localhost:3000/a?b' }, {}])
    expect(await ask(headers as Record<string, string>)).toBe('invalid_parameter');
  for (const headers of [
    page,
    { origin: 'null' },
    { origin: 'http://example.com' },
    { referer: 'https://evil.example/' },
  ])
    expect(await ask(headers as Record<string, string>)).toBe('origin_not_allowed');
  expect(await ask(page, api.secret)).toBe('invalid_parameter');
  expect(await ask(page, api.project.key('live', 'publishable'))).toBe('invalid_parameter');
  expect((await allow(null)).body.settings.allowedOrigins).toBeUndefined();
  expect(await ask(page)).toBe('invalid_parameter');
});

test('a text that is not an origin is refused', async () => {
  for (const wrong of [
    ['example.com'],
    ['ftp://example.com'],
    ['https://example.com/path'],
    ['*'],
    ['https://a@b'],
    [1],
  ]) {
    const { status, body } = await allow(wrong);
    expect([wrong, status, body.meta.param]).toEqual([wrong, 400, 'allowedOrigins']);
  }
});
