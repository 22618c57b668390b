import { expect, it } from 'vitest';
import { createBoundedCache } from './bounded-cache.js';

it('a bounded cache evicts what was not used for longest', () => {
  const cache = createBoundedCache<string, number>(2);
  cache.set('a', 1);
  cache.set('b', 2);
  cache.get('a');
  cache.set('c', 3);
  expect([...cache.keys()].sort()).toEqual(['a', 'c']);
  expect(cache.size).toBe(2);
});
