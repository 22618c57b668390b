import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodePosition, parsePosition } from './position.js';

const offset = fc.oneof(fc.nat(300), fc.maxSafeNat());
const position = fc.array(offset, { minLength: 1, maxLength: 40 });

describe('a position', () => {
  test('round-trips through its text, which is never a plain offset', () =>
    fc.assert(
      fc.property(position, (offsets) => {
        const text = encodePosition(offsets);
        expect(text).toMatch(/^A[\w-]+$/);
        expect(parsePosition(text, offsets.length)).toEqual(offsets);
        expect(parsePosition(text, offsets.length + 1)).toBeUndefined();
      }),
    ));

  test('is short: four partitions of a thousand records take a dozen characters', () => {
    expect(encodePosition([1_000, 1_200, 900, 16_383])).toHaveLength(12);
    expect(encodePosition([0])).toBe('AQA');
  });

  test('has exactly one text', () =>
    fc.assert(
      fc.property(
        fc.oneof(fc.base64String(), fc.string(), fc.stringMatching(/^A[Q-Z][\w-]{0,12}$/)),
        fc.nat(6),
        (text, partitions) => {
          const parsed = parsePosition(text, partitions);
          if (parsed !== undefined) expect(encodePosition(parsed)).toBe(text);
        },
      ),
    ));

  test.each([
    '',
    'A',
    'AQ',
    '0',
    'AQCA',
    'AQCAAA',
    'AQA=',
    'AQA ',
    'AgA',
    'AYAA',
    'AQ_______________8P',
    'A'.repeat(20_000),
  ])('%j is not a position of one partition', (text) => {
    expect(parsePosition(text, 1)).toBeUndefined();
  });
});
