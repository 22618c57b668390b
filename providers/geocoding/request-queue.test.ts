import { describe, expect, test, vi } from 'vitest';
import { refusal } from '../answer.js';
import type { GeocodingResult } from './geocoder.js';
import { createPace, createRequestQueue } from './request-queue.js';

const found: GeocodingResult = { ok: true, value: [] };
const maxWaiting = 128;
const maxRunning = 2;
const overloaded = { ok: false, error: { code: 'overloaded', retryAfterS: 1 } };

/** A queue with a pace that admits on command, and a record of what was sent. */
function bench({ maxWaitMs = 30_000, pollMs = 1 } = {}) {
  let turns = 0;
  let asking = 0;
  let maxAsking = 0;
  const sent: string[] = [];
  const pace = async () => {
    asking += 1;
    maxAsking = Math.max(maxAsking, asking);
    await new Promise(setImmediate);
    asking -= 1;
    if (turns === 0) return pollMs;
    turns -= 1;
    return null;
  };
  const queue = createRequestQueue({ service: 'Photon', pace, maxRunning, maxWaitMs });
  const ask = (project: string, path: string, answer = async () => found) =>
    queue(project, path, () => {
      sent.push(path);
      return answer();
    });
  const admit = async (count: number): Promise<void> => {
    const total = sent.length + count;
    turns += count;
    await expect.poll(() => sent.length).toBeGreaterThanOrEqual(total);
  };
  return { ask, admit, sent, maxAsking: () => maxAsking };
}

const pathsOf = (project: string, count: number) => Array.from({ length: count }, (_, index) => `${project}${index}`);

// Turns were taken at random: an address waited behind any part of another project's thousand, or was refused at once.
describe('regression: the addresses of one project', () => {
  test('leave others their turns, and go in order', async () => {
    const { ask, admit, sent, maxAsking } = bench();
    const a = pathsOf('a', 100).map((path) => ask('a', path));
    const b = pathsOf('b', 3).map((path) => ask('b', path));
    await admit(9);
    await Promise.all(b);
    expect(sent.filter((path) => path.startsWith('b'))).toEqual(['b0', 'b1', 'b2']);
    expect(sent.filter((path) => path.startsWith('a'))).toEqual(pathsOf('a', 6));
    await admit(94);
    await Promise.all(a);
    expect(sent.filter((path) => path.startsWith('a'))).toEqual(pathsOf('a', 100));
    // Each waiting address asked the shared store four times a second.
    expect(maxAsking()).toBe(1);
  });

  test('are refused beyond its share, and those of others are not', async () => {
    const { ask, admit } = bench();
    const count = maxRunning + maxWaiting;
    const waiting = pathsOf('a', count).map((path) => ask('a', path));
    expect(await ask('a', 'one more')).toMatchObject({ ...overloaded, error: { message: /of this project wait/ } });
    const other = ask('b', 'b');
    await admit(count + 1);
    expect(await Promise.all([...waiting, other])).toEqual(Array(count + 1).fill(found));
  });
});

describe('equal requests', () => {
  test('are sent in the first turn of any of their projects, and use one turn', async () => {
    const { ask, admit, sent } = bench();
    const before = pathsOf('a', 20).map((path) => ask('a', path));
    const both = [ask('a', 'same'), ask('b', 'same'), ask('b', 'same')];
    await admit(4);
    expect(await Promise.all(both)).toEqual([found, found, found]);
    expect(sent.filter((path) => path === 'same')).toHaveLength(1);
    await admit(17);
    await Promise.all(before);
    expect(sent).toHaveLength(21);
  });

  test('do not fail with the one whose project has too many waiting', async () => {
    const { ask, admit } = bench();
    const waiting = pathsOf('a', maxRunning + maxWaiting).map((path) => ask('a', path));
    const refused = ask('a', 'same');
    const accepted = ask('b', 'same');
    expect(await refused).toMatchObject(overloaded);
    await admit(3);
    expect(await accepted).toEqual(found);
    await admit(maxRunning + maxWaiting - 2);
    await Promise.all(waiting);
  });

  test('do not fail with the one that has waited longest', async () => {
    vi.useFakeTimers();
    try {
      const { ask, sent } = bench({ maxWaitMs: 100, pollMs: 60 });
      const first = ask('a', 'same');
      await vi.advanceTimersByTimeAsync(90);
      const second = ask('b', 'same');
      await vi.advanceTimersByTimeAsync(20);
      expect(await first).toMatchObject({ ...overloaded, error: { message: /waited too long for Photon/ } });
      expect(await Promise.race([second, Promise.resolve('waits')])).toBe('waits');
      await vi.advanceTimersByTimeAsync(100);
      expect(await second).toMatchObject(overloaded);
      expect(sent).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });

  test('all get the failure of the service, and the next one is sent again', async () => {
    const { ask, admit, sent } = bench();
    const failed: GeocodingResult = refusal('unavailable', 'Photon did not answer');
    const both = [ask('a', 'same', async () => failed), ask('b', 'same', async () => failed)];
    await admit(1);
    expect(await Promise.all(both)).toEqual([failed, failed]);
    const again = ask('a', 'same');
    await admit(1);
    expect(await again).toEqual(found);
    expect(sent).toHaveLength(2);
  });
});

test('without a pace, requests at the same time are bounded and shared', async () => {
  const finish: (() => void)[] = [];
  const sent: string[] = [];
  const pace = createPace('photon', 0, { put: async () => false });
  const queue = createRequestQueue({ service: 'Photon', pace, maxRunning, maxWaitMs: 30_000 });
  const ask = (project: string, path: string) =>
    queue(project, path, () => {
      sent.push(path);
      return new Promise((resolve) => finish.push(() => resolve(found)));
    });
  const all = [...pathsOf('a', 5).map((path) => ask('a', path)), ask('b', 'b')];
  for (let ended = 0; ended < all.length; ended++) {
    await expect.poll(() => finish.length).toBeGreaterThan(ended);
    expect(sent.length - ended).toBeLessThanOrEqual(maxRunning);
    finish[ended]!();
  }
  await Promise.all(all);
  expect(sent).toEqual(['a0', 'a1', 'b', 'a2', 'a3', 'a4']);
});
