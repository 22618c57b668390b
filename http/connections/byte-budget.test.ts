import { expect, it } from 'vitest';
import { createByteBudget } from './byte-budget.js';

it.each([
  ['192.0.2.1', '::ffff:192.0.2.1', '192.0.2.2'],
  ['2001:db8::1', '2001:db8:0:0:ffff::', '2001:db8:0:1::1'],
])('a client has a quarter of the budget, by whichever of its addresses: %s and %s', (one, same, other) => {
  const budget = createByteBudget(400);
  budget.add(one, 60);
  expect([one, same, other].map((address) => budget.fits(address, 60))).toEqual([false, false, true]);
  budget.remove(same, 60);
  expect(budget.fits(one, 60)).toBe(true);
});
