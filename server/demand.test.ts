import { expect, test } from 'vitest';
import { createDemand } from './demand.js';

test('a node serves for a moment after each answer', () => {
  let nowMs = 1_000;
  const demand = createDemand(() => nowMs);
  expect(demand.isServing()).toBe(false);
  demand.note();
  nowMs += 199;
  expect(demand.isServing()).toBe(true);
  nowMs += 1;
  expect(demand.isServing()).toBe(false);
});
