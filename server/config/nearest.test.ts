import { describe, expect, test } from 'vitest';
import { nearest } from './nearest.js';

describe('the nearest name', () => {
  test.each([
    ['serv', 'serve'],
    ['sevre', 'serve'],
    ['porjct', 'project'],
    ['Serve', 'serve'],
    ['repari', 'repair'],
  ])('of %s is %s', (name, expected) => {
    expect(nearest(name, ['serve', 'project', 'tail', 'repair', 'repartition'])).toBe(expected);
  });

  test('is undefined when nothing is similar', () => {
    expect(nearest('xyz', ['serve', 'project'])).toBeUndefined();
    expect(nearest('serve', [])).toBeUndefined();
  });
});
