import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { createTestServer } from '../testing/server.js';
import { parseForm } from './bodies.js';

const items = Array.from({ length: 50_000 }, (_, index) => index);

// Forty bodies of 1 MB were parsed and checked one after the other, and other requests waited for six seconds.
test.each([
  ['application/json', JSON.stringify({ list: items })],
  ['application/x-www-form-urlencoded', `list=${items.join('+')}&list=end`],
])('large bodies of %s that arrive together are read in turns of their own', async (type, payload) => {
  const app = createTestServer();
  onTestFinished(() => app.close());
  let turn = 0;
  const readIn: number[] = [];
  app.post('/v1/count', { config: { authority: 'none' } }, async ({ body }) => {
    readIn.push(turn);
    return { hasList: Array.isArray((body as { list: unknown }).list) };
  });
  await app.ready();
  let answered = 0;
  const answers = Array.from({ length: 20 }, async () => {
    const headers = { 'content-type': type };
    const answer = await app.inject({ method: 'POST', url: '/v1/count', headers, payload });
    answered += 1;
    return answer.json();
  });
  for (; answered < answers.length; turn++) await setImmediate();
  expect(await Promise.all(answers)).toEqual(answers.map(() => ({ hasList: true })));
  expect(new Set(readIn).size).toBe(20);
});

test('a large body that is not JSON is refused as a small one', async () => {
  const app = createTestServer();
  onTestFinished(() => app.close());
  app.post('/v1/count', { config: { authority: 'none' } }, async () => ({}));
  const headers = { 'content-type': 'application/json' };
  for (const length of [1, 100_000]) {
    const payload = `{"a":"${'x'.repeat(length)}"`;
    const answer = await app.inject({ method: 'POST', url: '/v1/count', headers, payload });
    expect(answer.statusCode).toBe(400);
    expect(answer.json().meta.code).toBe(400);
  }
});

test('spaces and plus signs of a form are different', async () => {
  const app = createTestServer();
  onTestFinished(() => app.close());
  app.post('/v1/count', { config: { authority: 'none' } }, async ({ body }) => body);
  await app.ready();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await app.inject({ method: 'POST', url: '/v1/count', headers, payload: 'a+b=1+2%2B3&c=%2b' });
  expect(answer.json()).toEqual({ 'a b': '1 2+3', c: '+' });
});

// Clients that send `text/plain` with an empty text were answered 415 by calls that take no body.
test.each(['text/plain; charset=utf-8', 'application/json', 'application/octet-stream'])(
  'an empty body of type %s is no body',
  async (type) => {
    const app = createTestServer();
    onTestFinished(() => app.close());
    app.delete('/v1/thing', { config: { authority: 'none' } }, async ({ body }) => ({ hasBody: body !== undefined }));
    const headers = { 'content-type': type };
    const answer = await app.inject({ method: 'DELETE', url: '/v1/thing', headers });
    expect([answer.statusCode, answer.json()]).toEqual([200, { hasBody: false }]);
    const empty = { ...headers, 'content-length': '0' };
    expect((await app.inject({ method: 'DELETE', url: '/v1/thing', headers: empty })).statusCode).toBe(200);
  },
);

test('the name of a content coding counts in any case', async () => {
  const app = createTestServer();
  onTestFinished(() => app.close());
  app.post('/v1/count', { config: { authority: 'none' } }, async ({ body }) => body);
  const post = (coding: string) =>
    app.inject({
      method: 'POST',
      url: '/v1/count',
      headers: { 'content-type': 'application/json', 'content-encoding': coding },
      payload: '{"a":1}',
    });
  expect((await post('Identity')).json()).toEqual({ a: 1 });
  expect((await post('GZIP')).statusCode).toBe(415);
});

// Incident: `metadata[7]=x` was refused as a list, in filters and in forms, while `metadata[2024]=x` worked.
describe('metadata in a form or query string', () => {
  it.each([
    ['metadata[7]=x', { '7': 'x' }],
    ['a=1&metadata%5B0%5D=x&metadata%5B2%5D=y', { '0': 'x', '2': 'y' }],
    ['metadata[0]=x&metadata[a]=y', { '0': 'x', a: 'y' }],
    ['metadata[0]=x&metadata[0]=y', { '0': ['x', 'y'] }],
  ])('may have keys of digits: %s', (text, metadata) => {
    expect(parseForm(text).metadata).toEqual(metadata);
  });

  it('is a list without keys, and other fields keep lists', () => {
    expect([...(parseForm('metadata[]=x').metadata as string[])]).toEqual(['x']);
    expect([...(parseForm('tags[0]=x&tags[1]=y&metadata[0]=z').tags as string[])]).toEqual(['x', 'y']);
  });
});
