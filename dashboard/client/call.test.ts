import { afterEach, expect, test, vi } from 'vitest';
import { call, Failure, refusalOf, Unreachable } from './call.js';

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
  expect(new Failure(413, { message: 'the file is too large' }).message).toBe('the file is too large');
});
