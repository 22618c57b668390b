import { afterEach, describe, expect, test, vi } from 'vitest';
import { call, callLast, Failure, isRepetition, refusalOf, setCallScope, Unreachable } from './call.js';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

// A connection that is gone gives no answer and no error: views were loading, and dialogs busy, without end.
test('a call that has no answer ends, and the page has asked before whether the server answers', async () => {
  vi.useFakeTimers();
  const asked: string[] = [];
  vi.stubGlobal('fetch', (path: string, { signal }: RequestInit) => {
    asked.push(path);
    return new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
    });
  });
  const change = expect(call('POST /v1/replays', { body: {} as never })).rejects.toThrow(Unreachable);
  await vi.advanceTimersByTimeAsync(11_000);
  expect(asked).toEqual(['/v1/replays', '/health/live']);
  await vi.advanceTimersByTimeAsync(110_000);
  await change;
});

// A proxy's 413 was "The server answered 413.", which says neither the reason nor what to do.
test('says what to do about a refusal without words', () => {
  const words = [413, 429, 500].map((status) => refusalOf(status).message);
  expect(words).toEqual([
    'This is larger than the server accepts, or a proxy in front of it.',
    'These were too many requests. Try again in a minute.',
    'The server answered 500 without a reason. Try again, or ask its operator.',
  ]);
  expect(refusalOf(429, {}, { retryAfter: '20' }).message).toBe(
    'These were too many requests. Try again in 20 seconds.',
  );
  expect(new Failure(413, { message: 'the file is too large' }).message).toBe('the file is too large');
});

// "Too much is in flight." said what was wrong, and not what to do.
test('adds what to do to the words of a refusal that passes', () => {
  const said = (type: string, message: string) => refusalOf(503, { type, message }).message;
  expect(said('overloaded', 'too much is in flight')).toBe('too much is in flight. Try again in a moment.');
  expect(said('overloaded', 'this server runs 4 imports; try again later')).toBe(
    'this server runs 4 imports. Try again in a moment.',
  );
  expect(said('internal', 'an unexpected error; the log has it under request 1')).toBe(
    'an unexpected error; the log has it under request 1. Try again, or ask the operator of the server.',
  );
  expect(said('storage_full', 'the disk is full')).toContain('Ask its operator.');
  expect(said('conflict', 'the sync is not enabled')).toBe('the sync is not enabled');
});

// The page said "try again later" after too many passwords, and not that this meant a quarter of an hour.
test('says when an attempt may succeed', () => {
  const said = (retryAfter: string) =>
    refusalOf(429, { type: 'too_many_attempts', message: 'more than 5 attempts; try again later' }, { retryAfter })
      .message;
  expect(['1', '59', '60', '817', '3600', '80000'].map(said)).toEqual(
    ['1 second', '59 seconds', '1 minute', '14 minutes', '1 hour', '23 hours'].map(
      (time) => `more than 5 attempts. Try again in ${time}.`,
    ),
  );
  expect(said('Wed, 21 Oct 2026 07:28:00 GMT')).toBe('more than 5 attempts. Try again in a minute.');
});

test('reads the time of an attempt from the header of a call', async () => {
  const meta = { type: 'overloaded', message: 'too much is in flight' };
  vi.stubGlobal('fetch', async () => Response.json({ meta }, { status: 503, headers: { 'Retry-After': '7' } }));
  await expect(call('GET /v1/webhooks', {})).rejects.toThrow('too much is in flight. Try again in 7 seconds.');
});

// The view that got the page had no rows, and failed.
test('takes the page of a proxy for no answer, also with status 200', async () => {
  const html = { headers: { 'Content-Type': 'text/html' } };
  vi.stubGlobal('fetch', async (path: string) =>
    path.startsWith('/health') ? Response.json({}) : new Response('<html>Sign in</html>', html),
  );
  await expect(call('GET /v1/webhooks', {})).rejects.toThrow(Unreachable);
});

const scope = { project: 'shops', environment: 'test' } as const;
const webhook = (url: string) => ({ body: { url } });

/** Answers requests in turn; null: the connection breaks. Collects the keys of the requests. */
function answerInTurn(...answers: readonly (number | null)[]): (string | null)[] {
  const keys: (string | null)[] = [];
  vi.stubGlobal('fetch', async (path: string, { headers }: RequestInit) => {
    if (path.startsWith('/health')) return Response.json({});
    const status = keys.length < answers.length ? answers[keys.length] : 200;
    keys.push(new Headers(headers).get('Idempotency-Key'));
    if (typeof status !== 'number') throw new TypeError('the connection broke');
    return new Response('{"meta":{}}', { status, headers: { 'Content-Type': 'application/json' } });
  });
  return keys;
}

const post = (url: string) => call('POST /v1/webhooks', webhook(url)).catch((error: unknown) => error);

describe('a POST', () => {
  // "Nothing was changed, as far as this page knows", and the next attempt made a second webhook.
  test('has the same key until it has an answer, and another key after that', async () => {
    setCallScope(scope);
    const keys = answerInTurn(null, 500, 200, 200);
    expect(await post('https://one.example')).toBeInstanceOf(Unreachable);
    expect(isRepetition(scope, 'POST /v1/webhooks', webhook('https://one.example'))).toBe(true);
    for (let more = 0; more < 3; more += 1) await post('https://one.example');
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys.slice(1, 3)).toEqual([keys[0], keys[0]]);
    expect(keys[3]).not.toBe(keys[0]);
  });

  // What the first attempt created may have been deleted meanwhile.
  test('has another key after another change', async () => {
    setCallScope(scope);
    const keys = answerInTurn(null, 200, 200);
    await post('https://one.example');
    await post('https://two.example');
    await post('https://one.example');
    expect(new Set(keys).size).toBe(3);
  });

  test('has no key of another environment, and other methods have none', async () => {
    setCallScope(scope);
    const keys = answerInTurn(null);
    await post('https://one.example');
    expect(isRepetition({ ...scope, environment: 'live' }, 'POST /v1/webhooks', webhook('https://one.example'))).toBe(
      false,
    );
    await call('GET /v1/webhooks', {});
    await call('PATCH /v1/webhooks/{id}', { path: { id: '1' }, body: { enabled: false } });
    expect(keys.slice(1)).toEqual([null, null]);
  });
});

describe('a change that takes away what allows it', () => {
  const input = { path: { id: 'shops' }, query: { name: 'Shops' } };
  const remove = (answers: (number | null)[]) => {
    setCallScope(scope);
    answerInTurn(...answers);
    const attempt = () =>
      callLast(scope, 'DELETE /v1/projects/{id}', input, async () => ({ meta: { code: 202 } })).catch(
        (error: unknown) => error,
      );
    return attempt;
  };

  // The project was deleted, and the second attempt said that the session may not do this.
  test('has succeeded if it had no answer and is refused for that afterwards', async () => {
    const attempt = remove([null, 403]);
    expect(await attempt()).toBeInstanceOf(Unreachable);
    expect(await attempt()).toEqual({ meta: { code: 202 } });
  });

  test('is refused at the first attempt, and where the second is refused for another reason', async () => {
    expect(await remove([403])()).toBeInstanceOf(Failure);
    const attempt = remove([null, 409]);
    await attempt();
    expect(await attempt()).toBeInstanceOf(Failure);
  });
});
