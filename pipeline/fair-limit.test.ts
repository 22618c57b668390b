import { expect, test } from 'vitest';
import { createFairLimit } from './fair-limit.js';

const limits = { maxRunning: 1, maxWaitingPerProject: 3, refusal: 'too many wait', retryAfterS: 7 };

/** Work that ends on command, and a record of what started. */
function bench(limit = createFairLimit(limits)) {
  const started: string[] = [];
  const finish = new Map<string, () => void>();
  const run = (project: string, name: string, signal?: AbortSignal): Promise<string> =>
    limit(
      project,
      () => {
        started.push(name);
        return new Promise((resolve) => finish.set(name, () => resolve(name)));
      },
      signal,
    );
  const end = async (name: string, answer: Promise<string>): Promise<void> => {
    finish.get(name)!();
    expect(await answer).toBe(name);
    // The place is free when the answer has settled.
    await new Promise(setImmediate);
  };
  return { limit, started, run, end };
}

// A public key sent a thousand searches, and the node answered nobody else for minutes.
test('a project with much waiting leaves others their turns, also where only one runs', async () => {
  const { started, run, end } = bench();
  const ofA = ['a1', 'a2', 'a3', 'a4'].map((name) => [name, run('a', name)] as const);
  const ofB = ['b1', 'b2'].map((name) => [name, run('b', name)] as const);
  const inOrder = [ofA[0]!, ofB[0]!, ofA[1]!, ofB[1]!, ofA[2]!, ofA[3]!];
  for (const [name, answer] of inOrder) await end(name, answer);
  expect(started).toEqual(inOrder.map(([name]) => name));
});

test('a project with too much waiting is refused, and others are not', async () => {
  const { run, end } = bench();
  const first = run('a', 'first');
  const waiting = ['1', '2', '3'].map((name) => run('a', name));
  await expect(run('a', '4')).rejects.toMatchObject({ code: 'overloaded', message: 'too many wait', retryAfterS: 7 });
  const other = run('b', 'other');
  await end('first', first);
  await end('other', other);
  for (const [index, answer] of waiting.entries()) await end(`${index + 1}`, answer);
});

test('what nobody waits for any more does not start', async () => {
  const { started, run, end } = bench();
  const first = run('a', 'first');
  const client = new AbortController();
  const left = run('a', 'left', client.signal);
  const next = run('a', 'next');
  client.abort(new Error('the client has left'));
  await expect(left).rejects.toThrow('the client has left');
  await end('first', first);
  await end('next', next);
  expect(started).toEqual(['first', 'next']);
  await expect(run('a', 'late', client.signal)).rejects.toThrow('the client has left');
});

test('work that fails frees its place', async () => {
  const { limit } = bench();
  await expect(limit('a', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await limit('a', async () => 'free again')).toBe('free again');
});
