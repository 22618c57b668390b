import { describe, expect, it } from 'vitest';
import { rowAfter } from './row-keys';

const extent = { count: 100, perPage: 10 };

describe('the keys of a list', () => {
  it.each([
    ['ArrowDown', 5, 6],
    ['ArrowUp', 5, 4],
    ['PageDown', 5, 14],
    ['PageUp', 50, 41],
    ['Home', 50, 0],
    ['End', 5, 99],
    ['ArrowUp', 0, 0],
    ['ArrowDown', 99, 99],
    ['PageDown', 95, 99],
    ['PageUp', 3, 0],
  ])('%s leads from row %i to row %i', (key, from, to) => {
    expect(rowAfter(key, from, extent)).toBe(to);
  });

  it('leads on from a row that is higher than its list', () => {
    expect(rowAfter('PageDown', 5, { count: 100, perPage: 0 })).toBe(6);
  });

  it.each(['Enter', ' ', 'Tab', 'ArrowLeft', 'toString'])('does not take %s', (key) => {
    expect(rowAfter(key, 5, extent)).toBeUndefined();
  });
});
