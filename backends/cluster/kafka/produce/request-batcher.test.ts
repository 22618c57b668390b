import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { Courier } from './request-batcher.js';

/** Rides end when the test says so. */
function rides() {
  const under: { loads: readonly number[]; end: (error?: Error) => void }[] = [];
  const courier = new Courier<number, string>({
    isFull: (loads) => loads.length === 3,
    deliver: (loads) =>
      new Promise((resolve, reject) => {
        const answers = loads.map((load) => `answer to ${load}`);
        under.push({ loads, end: (error) => (error === undefined ? resolve(answers) : reject(error)) });
      }),
  });
  const saw = (expected: number[][]) => vi.waitFor(() => expect(under.map(({ loads }) => loads)).toEqual(expected));
  return { courier, under, saw };
}

describe('courier', () => {
  test('one ride at a time; what comes meanwhile goes along with the next, made when it leaves', async () => {
    const { courier, under, saw } = rides();
    let latest = 0;
    const first = [courier.carry(() => 1), courier.carry(() => 2)];
    await saw([[1, 2]]);
    const second = courier.carry(() => latest);
    await nextTurn();
    await saw([[1, 2]]);
    latest = 7;
    under[0]!.end();
    expect(await Promise.all(first)).toEqual(['answer to 1', 'answer to 2']);
    await saw([[1, 2], [7]]);
    under[1]!.end();
    expect(await second).toBe('answer to 7');
  });

  test('who finds no place waits for the next ride', async () => {
    const { courier, under, saw } = rides();
    const all = [1, 2, 3, 4].map((load) => courier.carry(() => load));
    await saw([[1, 2, 3]]);
    under[0]!.end();
    await saw([[1, 2, 3], [4]]);
    under[1]!.end();
    expect(await all[3]).toBe('answer to 4');
  });

  test('a ride that fails fails all that it took along, and no other', async () => {
    const { courier, under, saw } = rides();
    const lost = [courier.carry(() => 1), courier.carry(() => 2)];
    await saw([[1, 2]]);
    const next = courier.carry(() => 3);
    under[0]!.end(new Error('fell off'));
    expect(await Promise.allSettled(lost)).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
    await saw([[1, 2], [3]]);
    under[1]!.end();
    expect(await next).toBe('answer to 3');
  });
});
