import { expect, test } from 'vitest';
import { compare } from './compare.js';
import type { Transition } from './peers/engine.js';
import { drawFleet } from './workloads/fleet.js';

/** Six fixes of one device; the fourth is late. */
const fixes = {
  ...drawFleet({
    devices: 1,
    count: 6,
    places: [{ center: [0, 0], spreadM: 1, share: 1 }],
    speedsMps: [1, 2],
    seed: 1,
  }),
  late: Uint8Array.from([0, 0, 0, 1, 0, 0]),
};
const transition = (fix: number, kind: Transition['kind'], fence = 0): Transition => ({ fix, fence, kind });
const comparisonOf = (reference: Transition[], found: Transition[], outlineDistanceM = 100, restartedAt = 6) =>
  compare({ fixes, reference, found, restartedAt, outlineDistanceM: () => outlineDistanceM, toleranceM: () => 1 });
const none = { 'late fix': 0, 'state loss': 0, 'distance model': 0, unexplained: 0 };

test('equal transitions in any order are the same', () => {
  const [one, other] = [transition(1, 'enter'), transition(2, 'exit')];
  expect(comparisonOf([one, other], [other, one])).toEqual({ same: 2, missing: none, extra: none, modelErrorM: 0 });
});

test('a late fix and the one after it explain what they cause', () => {
  const { extra } = comparisonOf([], [transition(3, 'exit'), transition(4, 'enter')]);
  expect(extra).toEqual({ ...none, 'late fix': 2 });
});

test('the first fix after a restart explains a second entry and a missing exit, and nothing else', () => {
  const restartedAt = 2;
  const repeated = comparisonOf([], [transition(2, 'enter')], 100, restartedAt);
  expect(repeated.extra).toEqual({ ...none, 'state loss': 1 });
  const lost = comparisonOf([transition(2, 'exit')], [], 100, restartedAt);
  expect(lost.missing).toEqual({ ...none, 'state loss': 1 });
  const other = comparisonOf([transition(2, 'enter')], [], 100, restartedAt);
  expect(other.missing).toEqual({ ...none, unexplained: 1 });
});

test('a fix at the outline is explained by the distance model, and says how far away it is', () => {
  const { missing, modelErrorM } = comparisonOf([transition(1, 'enter')], [], 0.5);
  expect([missing, modelErrorM]).toEqual([{ ...none, 'distance model': 1 }, 0.5]);
  expect(comparisonOf([transition(1, 'enter')], [], 2).missing).toEqual({ ...none, unexplained: 1 });
});
