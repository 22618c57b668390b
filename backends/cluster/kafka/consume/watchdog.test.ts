import { expect, test } from 'vitest';
import { type Sight, startWatchdog, type Watch, watch } from './watchdog.js';

const sight = (name: string, steps: number, isDue = true): Sight => ({ name, steps, isDue, state: `at ${steps}` });

/** Looks every second; what has stood still for how long, by name. */
function seen(...looks: readonly (readonly Sight[])[]): Record<string, number> {
  let watched: Watch = new Map();
  for (const sights of looks) watched = watch(watched, sights, 1_000);
  return Object.fromEntries([...watched].map(([name, { stillMs }]) => [name, stillMs]));
}

test('time counts for what is due and takes no step', () => {
  expect(seen([sight('a', 1)])).toEqual({ a: 0 });
  expect(seen([sight('a', 1)], [sight('a', 1)], [sight('a', 1)])).toEqual({ a: 2_000 });
  expect(seen([sight('a', 1)], [sight('a', 2)], [sight('a', 2)])).toEqual({ a: 1_000 });
});

test('what has nothing to do, or could not be seen, begins anew', () => {
  expect(seen([sight('a', 1)], [sight('a', 1, false)])).toEqual({});
  expect(seen([sight('a', 1)], [sight('a', 1, false)], [sight('a', 1)])).toEqual({ a: 0 });
  expect(seen([sight('a', 1)], [sight('a', 1)], [], [sight('a', 1)], [sight('a', 1)])).toEqual({ a: 1_000 });
});

test('one that moves does not excuse another', () => {
  expect(seen([sight('a', 1), sight('b', 1)], [sight('a', 1), sight('b', 2)], [sight('a', 1), sight('b', 3)])).toEqual({
    a: 2_000,
    b: 0,
  });
});

test('the timer tells once, what stands still and how all was found', async () => {
  let steps = 0;
  const told: string[] = [];
  const look = async () => [sight('stuck', 1), sight('fine', steps++)];
  const message = await new Promise<string>((resolve) => {
    startWatchdog({ timeoutMs: 60, look, onStall: (text) => resolve(told[told.push(text) - 1]!) });
  });
  expect(message).toMatch(/^no step for 60 ms: stuck\nstuck: at 1\nfine: at \d+$/);
  expect(told).toEqual([message]);
});

test('an outage of those who are asked does not count', async () => {
  let looks = 0;
  const look = async (): Promise<Sight[]> => {
    looks += 1;
    if (looks % 3 === 0) throw new Error('no broker');
    return [sight('a', 1)];
  };
  const told: string[] = [];
  const stop = startWatchdog({ timeoutMs: 60, look, onStall: (text) => told.push(text) });
  while (looks < 30) await new Promise(setImmediate);
  stop();
  expect(told).toEqual([]);
});
