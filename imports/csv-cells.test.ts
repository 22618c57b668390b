import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyCharacter } from '../testing/any-character.js';
import { guardCell, unguardCell } from './csv-cells.js';

/** The first character decides, in every spreadsheet. */
const calculates = (cell: string): boolean => '=+-@\t\r\n＝＋－＠'.includes(cell.slice(0, 1)) && cell !== '';

const cell = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.string({ unit: fc.constantFrom("'", '=', '+', '-', '@', '\t', '\r', '\n', '＝', 'a') }),
);

describe('a guarded cell', () => {
  test('is never a formula', () => {
    fc.assert(
      fc.property(cell, (text) => {
        expect(calculates(guardCell(text))).toBe(false);
      }),
    );
  });

  test('is read as the text that was guarded', () => {
    fc.assert(
      fc.property(cell, (text) => {
        expect(unguardCell(guardCell(text))).toBe(text);
      }),
    );
  });
});

test.each([
  ['=1+1', "'=1+1"],
  ["'=1+1", "''=1+1"],
  ["it's", "it's"],
  ["'quoted'", "'quoted'"],
  ['[10,50]', '[10,50]'],
])('%j is written as %j', (text, expected) => expect(guardCell(text)).toBe(expected));
