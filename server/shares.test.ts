import { expect, test, vi } from 'vitest';
import type { Scope, SpatialQueries } from '../pipeline/catalog/types.js';
import { shareHistory, shareSpatialQueries } from './shares.js';

const project = (name: string) => ({ project: name });

/** A store whose queries end on command, and a record of what started. */
function bench() {
  const started: string[] = [];
  const finish: (() => void)[] = [];
  const run = (sql: string): Promise<never[]> => {
    started.push(sql);
    return new Promise((resolve) => finish.push(() => resolve([])));
  };
  const history = shareHistory({ query: run, file: async () => new Uint8Array() });
  return { history, started, finish };
}

// Queries of clients that had left ran nevertheless, one after the other, before those of clients that waited.
test('a query whose client has left does not start', async () => {
  const { history, started, finish } = bench();
  const running = [history.query('1', project('a')), history.query('2', project('a'))];
  const client = new AbortController();
  const left = history.query('left', project('a'), client.signal);
  const next = history.query('next', project('a'));
  client.abort(new Error('the client has left'));
  await expect(left).rejects.toThrow('the client has left');
  for (const end of finish) end();
  await expect.poll(() => started.length).toBe(3);
  finish[2]!();
  await Promise.all([...running, next]);
  expect(started).toEqual(['1', '2', 'next']);
});

// It examined 200,000 geofences to the end, and kept its place from others.
test('a search that runs gets the signal of its client', async () => {
  const untilAborted = (_: Scope, signal?: AbortSignal): Promise<never> =>
    new Promise((__, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
  const none = async () => [];
  const shared = shareSpatialQueries({
    context: none,
    searchGeofences: untilAborted,
    searchBeacons: none,
    explain: none,
  });
  const clients = Array.from({ length: 8 }, () => new AbortController());
  const left = clients.map(({ signal }) => shared.searchGeofences(project('a') as never, signal));
  const next = shared.context(project('a') as never);
  for (const client of clients) client.abort(new Error('the client has left'));
  for (const each of left) await expect(each).rejects.toThrow('the client has left');
  expect(await next).toEqual([]);
});

test('a search whose client has left does not start', async () => {
  const started: string[] = [];
  const finish: (() => void)[] = [];
  const search = ({ project }: Scope): Promise<object[]> => {
    started.push(project);
    return new Promise((resolve) => finish.push(() => resolve([])));
  };
  const shared = shareSpatialQueries({
    context: search,
    searchGeofences: search,
    searchBeacons: search,
    explain: search,
  });
  const of = (name: string) => ({ project: name, environment: 'live' }) as never;
  const running = Array.from({ length: 8 }, () => shared.context(of('running')));
  const client = new AbortController();
  const left = [shared.context, shared.searchGeofences, shared.searchBeacons, shared.explain].map((ask) =>
    ask(of('left'), client.signal).catch((error: Error) => error.message),
  );
  client.abort(new Error('the client has left'));
  for (const end of finish) end();
  expect(await Promise.all(left)).toEqual(Array(4).fill('the client has left'));
  await Promise.all(running);
  expect(started).toEqual(Array(8).fill('running'));
});

test('a query that waits longer than 30 seconds is refused, and one that runs is not', async () => {
  vi.useFakeTimers();
  try {
    const { history, started, finish } = bench();
    const running = [history.query('1', project('a')), history.query('2', project('a'))];
    const waiting = expect(history.query('3', project('b'))).rejects.toMatchObject({
      code: 'overloaded',
      retryAfterS: 1,
    });
    await vi.advanceTimersByTimeAsync(30_000);
    await waiting;
    for (const end of finish) end();
    await Promise.all(running);
    expect(started).toEqual(['1', '2']);
  } finally {
    vi.useRealTimers();
  }
});

test('a search that waits longer than 30 seconds is refused, too', async () => {
  vi.useFakeTimers();
  try {
    const endless = () => new Promise<never>(() => {});
    const queries: SpatialQueries = {
      context: endless,
      searchGeofences: endless,
      searchBeacons: endless,
      explain: endless,
    };
    const shared = shareSpatialQueries(queries);
    const query = { project: 'a' } as Parameters<SpatialQueries['context']>[0];
    for (let running = 0; running < 8; running++) void shared.context(query);
    const waiting = expect(shared.context(query)).rejects.toMatchObject({ code: 'overloaded' });
    await vi.advanceTimersByTimeAsync(30_000);
    await waiting;
  } finally {
    vi.useRealTimers();
  }
});
