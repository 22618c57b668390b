import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCsv } from './csv';

const cell = fc.string({ unit: fc.constantFrom('a', 'ä', '€', ' ', ',', '"', '\n', '\r\n', '\r'), maxLength: 6 });
const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const files = fc.record({
  rows: fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { maxLength: 6 }),
  lineBreak: fc.constantFrom('\n', '\r\n', '\r'),
  isEnded: fc.boolean(),
});
const textOf = ({ rows, lineBreak, isEnded }: typeof files extends fc.Arbitrary<infer File> ? File : never): string =>
  rows.map((cells) => cells.map(quoted).join(',')).join(lineBreak) + (isEnded ? lineBreak : '');

describe('a CSV text', () => {
  it('has the rows that csv-parse reads, but for empty ones', () => {
    fc.assert(
      fc.property(files, (file) => {
        const text = textOf(file);
        const expected = parse(text, {
          relax_column_count: true,
          skip_empty_lines: true,
          record_delimiter: ['\r\n', '\n', '\r'],
        }).filter((cells) => cells.some((each) => each !== ''));
        expect(readCsv(text).rows.map(({ cells }) => cells)).toEqual(expected);
      }),
    );
  });

  it('has of its beginning the rows that are complete', () => {
    fc.assert(
      fc.property(files, fc.nat(80), (file, length) => {
        const text = textOf(file);
        const whole = readCsv(text).rows;
        const { rows, brokenLine } = readCsv(text.slice(0, length), false);
        expect(brokenLine).toBeUndefined();
        // A cut inside of a CRLF or of a doubled quote ends no row that the whole text does not have.
        expect(rows).toEqual(whole.slice(0, rows.length));
      }),
    );
  });

  it('counts the lines of quoted cells and blank lines', () => {
    const { rows } = readCsv('a,b\r\n"1\r\n2",x\r\n\r\ny,z\n');
    expect(rows.map(({ line }) => line)).toEqual([1, 2, 5]);
  });

  it.each([
    ['a\n"b" c\nd', 2],
    ['a\nb "c"\nd', 2],
    ['a\nb\n"c\nd', 3],
  ])('ends at a broken quote: %j', (text, brokenLine) => {
    expect(readCsv(text)).toMatchObject({ brokenLine, rows: { length: brokenLine - 1 } });
  });

  it('loses the byte order mark, and the apostrophe that keeps spreadsheets from calculating', () => {
    expect(readCsv("\uFEFF'=1,''=2,'a\n").rows[0]?.cells).toEqual(['=1', "'=2", "'a"]);
  });
});
