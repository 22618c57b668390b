import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createTestServer } from '../testing/server.js';

// Forty bodies of 1 MB were parsed and checked one after the other, and other requests waited for six seconds.
test('large bodies that arrive together are read in turns of their own', async () => {
  const app = createTestServer();
  onTestFinished(() => app.close());
  let turn = 0;
  const readIn: number[] = [];
  app.post('/v1/count', { config: { authority: 'none' } }, async ({ body }) => {
    readIn.push(turn);
    return { count: (body as { list: unknown[] }).list.length };
  });
  await app.ready();
  const payload = { list: Array.from({ length: 50_000 }, (_, index) => index) };
  let answered = 0;
  const answers = Array.from({ length: 20 }, async () => {
    const answer = await app.inject({ method: 'POST', url: '/v1/count', payload });
    answered += 1;
    return answer.json();
  });
  for (; answered < answers.length; turn++) await setImmediate();
  expect(await Promise.all(answers)).toEqual(answers.map(() => ({ count: 50_000 })));
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
