import { describe, expect, it } from 'vitest';
import { differences, repeated } from './differences.js';

describe('differences', () => {
  it('are none between the same lines in any order', () => {
    expect(differences('lines', ['a', 'b', 'a'], ['a', 'a', 'b'])).toEqual([]);
  });

  it('count how often a line occurs', () => {
    expect(differences('lines', ['a', 'a'], ['a', 'b'])).toEqual([
      '1 lines missing:',
      '  a',
      '1 lines that should not be there:',
      '  b',
    ]);
  });

  it('are cut when there are many', () => {
    const report = differences(
      'lines',
      Array.from({ length: 100 }, (_, index) => String(index)),
      [],
    );
    expect(report[0]).toBe('100 lines missing:');
    expect(report.at(-1)).toBe('  … and 88 more');
  });

  it('find lines that occur twice', () => {
    expect(repeated('ids', ['a', 'b', 'a'])).toEqual(['1 ids more than once:', '  a']);
    expect(repeated('ids', ['a', 'b'])).toEqual([]);
  });
});
