import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Answer } from '../answer.js';
import { createCapacity } from './capacity.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const limits = { maxConcurrency: 2, maxWaitingPerProject: 3, timeoutMs: 1_000 };
const done: Answer<string> = { ok: true, value: 'done' };

/** Work that ends on command, and a record of what started. */
function bench(capacity = createCapacity(limits)) {
  const started: string[] = [];
  const finish = new Map<string, () => void>();
  const signals = new Map<string, AbortSignal>();
  const times = new Map<string, () => boolean>();
  function run(project: string, name: string): Promise<string> {
    const answer = capacity<string>(project, ({ signal, hasTime }) => {
      started.push(name);
      signals.set(name, signal);
      times.set(name, hasTime);
      return new Promise((resolve) => finish.set(name, () => resolve(done)));
    });
    return answer.then((result) => (result.ok ? result.value : result.error.code));
  }
  const end = async (name: string) => {
    finish.get(name)!();
    await vi.advanceTimersByTimeAsync(0);
  };
  return { started, signals, times, run, end };
}

test('as many run as the limit says, and the next starts when one ends', async () => {
  const { started, run, end } = bench();
  const answers = ['1', '2', '3'].map((name) => run('a', name));
  expect(started).toEqual(['1', '2']);
  await end('2');
  expect(started).toEqual(['1', '2', '3']);
  await end('1');
  await end('3');
  expect(await Promise.all(answers)).toEqual(['done', 'done', 'done']);
});

test('the project with the fewest running requests is next', async () => {
  const { started, run, end } = bench();
  for (const name of ['a1', 'a2', 'a3', 'a4']) void run('a', name);
  void run('b', 'b1');
  void run('b', 'b2');
  await end('a1');
  await end('b1');
  await end('a2');
  expect(started).toEqual(['a1', 'a2', 'b1', 'b2', 'a3']);
});

test('further requests of a project that waits too often are refused, those of others are not', async () => {
  const { started, run, end } = bench();
  const waiting = ['1', '2', '3', '4', '5'].map((name) => run('a', name));
  expect(await run('a', '6')).toBe('overloaded');
  const other = run('b', 'other');
  for (const name of ['1', '2']) await end(name);
  for (const name of ['other', '3']) await end(name);
  for (const name of ['4', '5']) await end(name);
  expect(await Promise.all([...waiting, other])).toEqual(Array.from({ length: 6 }, () => 'done'));
  expect(started).toHaveLength(6);
});

describe('at the time limit', () => {
  test('work is answered and aborted, and keeps its place until it has ended', async () => {
    const { started, signals, run, end } = bench(createCapacity({ ...limits, maxConcurrency: 1 }));
    const slow = run('a', 'slow');
    await vi.advanceTimersByTimeAsync(999);
    expect(signals.get('slow')!.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(signals.get('slow')!.aborted).toBe(true);
    expect(await slow).toBe('unavailable');
    const next = run('a', 'next');
    expect(started).toEqual(['slow']);
    await end('slow');
    expect(started).toEqual(['slow', 'next']);
    await end('next');
    expect(await next).toBe('done');
  });

  test('what still waits is answered and never starts', async () => {
    const { started, run, end } = bench(createCapacity({ ...limits, maxConcurrency: 1 }));
    void run('a', 'slow');
    const waiting = run('a', 'waiting');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await waiting).toBe('overloaded');
    await end('slow');
    expect(started).toEqual(['slow']);
  });
});

describe('too little time is left', () => {
  // It ended the process of the embedded router shortly after it began, and with it the requests of other projects.
  test('regression: to begin after a long wait', async () => {
    const { started, run, end } = bench(createCapacity({ ...limits, maxConcurrency: 1 }));
    const first = run('a', 'first');
    await vi.advanceTimersByTimeAsync(100);
    const waiting = ['b', 'c'].map((project) => run(project, project));
    await vi.advanceTimersByTimeAsync(750);
    await end('first');
    expect(started).toEqual(['first', 'b']);
    await vi.advanceTimersByTimeAsync(1);
    await end('b');
    expect(await Promise.all([first, ...waiting])).toEqual(['done', 'done', 'overloaded']);
    expect(started).toEqual(['first', 'b']);
  });

  test('for more work, in the last quarter and after the limit', async () => {
    const { times, run } = bench();
    void run('a', 'slow');
    for (const [passesMs, expected] of [
      [750, true],
      [1, false],
      [249, false],
    ] as const) {
      await vi.advanceTimersByTimeAsync(passesMs);
      expect(times.get('slow')!()).toBe(expected);
    }
  });
});

test('work that throws rejects its own call and frees its place', async () => {
  const capacity = createCapacity({ ...limits, maxConcurrency: 1 });
  const broken = new Error('broken');
  await expect(capacity('a', () => Promise.reject(broken))).rejects.toBe(broken);
  expect(await capacity('a', async () => done)).toEqual(done);
});
