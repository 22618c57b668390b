/** Reading CSV files: any table in any form and any chunks, and files that are broken. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BrokenSource, maxRowLength, type SourceRow, utf8Rule } from '../source.js';
import { bytesOf } from '../testing/fixtures.js';
import { csvRows } from './csv.js';

async function read(file: string | Uint8Array, chunkBytes?: number) {
  const rows: SourceRow[] = [];
  let broken: BrokenSource | undefined;
  try {
    for await (const batch of csvRows(bytesOf(file, chunkBytes), () => new Set())) rows.push(...batch.rows);
  } catch (error) {
    if (!(error instanceof BrokenSource)) throw error;
    broken = error;
  }
  return { rows, broken };
}

const cell = fc.oneof(
  fc.constantFrom('', 'a', 'b c', 'é', '🙂', 'x,y', 'say "hi"', 'two\nlines', 'two\r\nlines', '\n', '""'),
  fc.string({ maxLength: 5, unit: fc.constantFrom('a', ',', '"', '\n', ' ', 'ü') }),
);
const written = (text: string, isQuoted: boolean): string =>
  isQuoted || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

const linesOf = (text: string): number => text.split(/\r\n|\n|\r/).length;

it('reads every table that RFC 4180 can write, in any chunks, and knows where each row begins', async () => {
  const row = fc.record({ cells: fc.tuple(cell, cell), isQuoted: fc.boolean(), blankLines: fc.nat(2) });
  const table = fc.record({
    rows: fc.array(row, { maxLength: 8 }),
    lineEnd: fc.constantFrom('\n', '\r\n'),
    hasMark: fc.boolean(),
    endsWithLine: fc.boolean(),
    chunkBytes: fc.integer({ min: 1, max: 40 }),
  });
  await fc.assert(
    fc.asyncProperty(table, async ({ rows, lineEnd, hasMark, endsWithLine, chunkBytes }) => {
      let text = `${hasMark ? '\ufeff' : ''}one,two`;
      const expected: { line: number; cells: readonly string[] }[] = [];
      for (const { cells, isQuoted, blankLines } of rows) {
        text += lineEnd.repeat(blankLines + 1);
        if (cells.some((each) => each.trim() !== '')) expected.push({ line: linesOf(text), cells });
        text += cells.map((each) => written(each, isQuoted)).join(',');
      }
      if (endsWithLine) text += lineEnd;
      const { rows: found, broken } = await read(text, chunkBytes);
      expect(broken).toBeUndefined();
      expect(found.map(({ line, cells }) => ({ line, cells }))).toEqual(expected);
    }),
  );
});

// 65 kB of short rows were parsed in one turn of the event loop, which took up to a second.
it('parses at most 8 KiB at once', async () => {
  const sizes: number[] = [];
  for await (const { rows } of csvRows(bytesOf(`a\n${'1\n'.repeat(20_000)}`), () => new Set())) sizes.push(rows.length);
  expect(Math.max(...sizes)).toBe(4_096);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(20_000);
});

describe('bytes that are not UTF-8', () => {
  it.each([1, 2, 3, 1_000])('lose only their row, in chunks of %d bytes', async (chunkBytes) => {
    const file = Buffer.concat([
      Buffer.from('name,other\nélan,1\ncaf'),
      Buffer.of(0xe9),
      Buffer.from(',2\n🙂,3\n'),
      Buffer.of(0xf0, 0x9f),
    ]);
    const { rows } = await read(file, chunkBytes);
    expect(rows.map(({ line, content }) => ({ line, content }))).toEqual([
      { line: 2, content: { fields: { name: 'élan', other: '1' } } },
      { line: 3, content: { problem: { column: 'name', rule: utf8Rule } } },
      { line: 4, content: { fields: { name: '🙂', other: '3' } } },
      { line: 5, content: { problem: expect.objectContaining({ column: 'row' }) } },
    ]);
  });

  it('of UTF-16 refuse the file', async () => {
    const { broken } = await read(Buffer.from('\ufeffname,other\n', 'utf16le'), 1);
    expect(broken?.message).toBe('line 1: file: is UTF-16; save it as UTF-8');
  });
});

describe('a file that is broken', () => {
  it.each([
    ['an open quote', 'a,b\n1,2\n\n3,"x\n4,5\n', 4, 'has a quote that is never closed'],
    ['text after a closing quote', 'a,b\n1,2\n3,"x"y\n4,5\n', 3, 'text follows a closing quote'],
    ['a quote inside of a cell', 'a,b\n1,2\n3,x"y\n4,5\n', 3, 'inside of a cell without quotes'],
    ['an open quote that a later one closes', 'a,b\n1,2\n3,"x\n4,"y"\n', 3, 'text follows a closing quote'],
    ['a row that is too long', `a,b\n1,2\n3,${'x'.repeat(maxRowLength + 1_000)}\n`, 3, 'is longer than'],
  ])('by %s gives the rows before it, and the line on which the row begins', async (_, file, line, rule) => {
    const { rows, broken } = await read(file);
    expect(rows.map((row) => row.line)).toEqual([2]);
    expect(broken).toMatchObject({ line, problem: { column: 'row', rule: expect.stringContaining(rule) } });
  });

  it.each(['', '\ufeff', '\n\n', ' , \n'])('is one without a header: %j', async (file) => {
    expect((await read(file)).broken?.problem).toEqual({
      column: 'file',
      rule: 'is empty; its first row must name the columns',
    });
  });
});

it.each([
  ['1', 'has 1 cells, but the header has 2 columns; is a quote missing?'],
  ['1,2,3', 'has 3 cells, but the header has 2 columns; is a quote missing?'],
])('a row with other cells than the header is bad: %s', async (row, rule) => {
  expect((await read(`a,b\n${row}\n`)).rows).toMatchObject([{ content: { problem: { column: 'row', rule } } }]);
});

it('empty cells beyond the header are ignored', async () => {
  expect((await read('a,b\n1,2,,\n')).rows).toMatchObject([{ content: { fields: { a: '1', b: '2' } } }]);
});

// A spreadsheet writes a column whose cells were deleted. Its file was refused, because the column had no name.
it('empty columns at the end of the header are ignored', async () => {
  expect(await read('a,b,, \n1,2,,\n3,4\n5,6,7,\n')).toMatchObject({
    broken: undefined,
    rows: [
      { content: { fields: { a: '1', b: '2' } } },
      { content: { fields: { a: '3', b: '4' } } },
      { content: { problem: { column: 'row', rule: expect.stringContaining('has 4 cells') } } },
    ],
  });
});
