import { expect, test } from 'vitest';
import { addObservation, type Observation, type Stalls, startWatchdog } from './watchdog.js';

const at = (name: string, steps: number, hasWork = true): Observation => ({
  name,
  steps,
  hasWork,
  state: `at ${steps}`,
});

/** Adds the observations, one second apart. Returns for how long each name has been stalled. */
function stallsAfter(...rounds: readonly (readonly Observation[])[]): Record<string, number> {
  let stalls: Stalls = new Map();
  for (const round of rounds) stalls = addObservation(stalls, round, 1_000);
  return Object.fromEntries([...stalls].map(([name, { stalledMs }]) => [name, stalledMs]));
}

test('time counts while something has work and makes no progress', () => {
  expect(stallsAfter([at('a', 1)])).toEqual({ a: 0 });
  expect(stallsAfter([at('a', 1)], [at('a', 1)], [at('a', 1)])).toEqual({ a: 2_000 });
  expect(stallsAfter([at('a', 1)], [at('a', 2)], [at('a', 2)])).toEqual({ a: 1_000 });
});

test('time restarts after idleness and after a failed observation', () => {
  expect(stallsAfter([at('a', 1)], [at('a', 1, false)])).toEqual({});
  expect(stallsAfter([at('a', 1)], [at('a', 1, false)], [at('a', 1)])).toEqual({ a: 0 });
  expect(stallsAfter([at('a', 1)], [at('a', 1)], [], [at('a', 1)], [at('a', 1)])).toEqual({ a: 1_000 });
});

test('progress of one does not reset the time of another', () => {
  expect(stallsAfter([at('a', 1), at('b', 1)], [at('a', 1), at('b', 2)], [at('a', 1), at('b', 3)])).toEqual({
    a: 2_000,
    b: 0,
  });
});

test('the watchdog reports once, with the stalled names and the state of everything', async () => {
  let steps = 0;
  const reports: string[] = [];
  const observe = async () => [at('stuck', 1), at('fine', steps++)];
  const message = await new Promise<string>((resolve) => {
    startWatchdog({ timeoutMs: 60, observe, onStall: (text) => resolve(reports[reports.push(text) - 1]!) });
  });
  expect(message).toMatch(/^no progress for 60 ms: stuck\nstuck: at 1\nfine: at \d+$/);
  expect(reports).toEqual([message]);
});

test('time during which nothing can be observed does not count', async () => {
  let rounds = 0;
  const observe = async (): Promise<Observation[]> => {
    rounds += 1;
    if (rounds % 3 === 0) throw new Error('no broker');
    return [at('a', 1)];
  };
  const reports: string[] = [];
  const stop = startWatchdog({ timeoutMs: 60, observe, onStall: (text) => reports.push(text) });
  while (rounds < 30) await new Promise(setImmediate);
  stop();
  expect(reports).toEqual([]);
});
