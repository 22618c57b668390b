/**
 * Reads CSV files in a stream, by RFC 4180. Lines may end in LF, CRLF or CR. Blank lines and rows of empty cells are
 * skipped.
 *
 * A broken quote ends the file: nobody can say where the row ends, so rows after it would be guesses.
 */
import { finished } from 'node:stream/promises';
import { type CsvError, type Info, Parser } from 'csv-parse';
import { limitText } from '../../schemas/wording.js';
import { unguardCell } from '../csv-cells.js';
import { BrokenSource, brokenByte, maxRowLength, type RowBatch, type SourceRow, utf8Rule } from '../source.js';
import { counted, utf8Chunks } from './utf8.js';

interface ReadRecord {
  readonly line: number;
  readonly cells: string[];
}

const lineBreaks = /\r\n|\n|\r/g;

/**
 * Counts lines. The parser counts a CRLF inside of quotes twice, and says where a record ends, not where it begins.
 */
class LineCounter {
  #excess = 0;
  #parserLines = 0;
  #emptyLines = 0;

  /** Returns the line on which the record begins. */
  begin(cells: readonly string[], { lines, empty_lines }: Pick<Info, 'lines' | 'empty_lines'>): number {
    let inside = 0;
    if (lines - this.#parserLines - (empty_lines - this.#emptyLines) > 1) {
      for (const cell of cells) {
        for (const [found] of cell.matchAll(lineBreaks)) {
          inside += 1;
          if (found.length === 2) this.#excess += 1;
        }
      }
    }
    this.#parserLines = lines;
    this.#emptyLines = empty_lines;
    return lines - this.#excess - inside;
  }

  /** Returns the line on which the record after the last one begins. */
  next(emptyLines: number): number {
    return this.#parserLines - this.#excess + Math.max(0, emptyLines - this.#emptyLines) + 1;
  }
}

function ruleOf({ code, message }: CsvError): string {
  switch (code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return 'has a quote that is never closed';
    case 'CSV_INVALID_CLOSING_QUOTE':
      return 'has a broken quote: text follows a closing quote; write a quote inside of a quoted cell twice';
    case 'INVALID_OPENING_QUOTE':
      return 'has a broken quote: a quote stands inside of a cell without quotes; quote the cell and write it twice';
    case 'CSV_MAX_RECORD_SIZE':
      return `is longer than ${limitText(maxRowLength)}; is a quote missing?`;
    default:
      return `can't be read: ${message}`;
  }
}

/**
 * Hands each record over when it is read. The stream's own queue would hold it, and `on_record` copies the counts.
 *
 * Each record counts as the first. For a record of another length than the first one the parser would make an error,
 * with a stack and copies, in 40 microseconds.
 */
class RecordParser extends Parser {
  constructor(
    options: ConstructorParameters<typeof Parser>[0],
    private readonly onRecord: (cells: string[], info: Info) => void,
  ) {
    super(options);
  }

  override push(cells: string[] | null): boolean {
    if (cells === null) return super.push(null);
    (this.info as { records: number }).records = 0;
    this.onRecord(cells, this.info);
    return true;
  }
}

/** Bytes that are parsed at once, with up to a record for every two. */
const pieceBytes = 8_192;

async function* piecesOf(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of source)
    for (let from = 0; from < chunk.length; from += pieceBytes) yield chunk.subarray(from, from + pieceBytes);
}

/** Yields the records of each piece. */
async function* recordsOf(source: AsyncIterable<Buffer>): AsyncGenerator<ReadRecord[]> {
  const lines = new LineCounter();
  let records: ReadRecord[] = [];
  const options = {
    bom: true,
    relax_column_count: true,
    skip_empty_lines: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    max_record_size: maxRowLength,
  };
  const parser = new RecordParser(options, (cells, info) => records.push({ line: lines.begin(cells, info), cells }));
  const broken = (error: unknown): BrokenSource =>
    new BrokenSource(lines.next((error as CsvError & { empty_lines?: number }).empty_lines ?? 0), {
      column: 'row',
      rule: ruleOf(error as CsvError),
    });
  parser.resume();
  let failure: unknown;
  const end = finished(parser).catch((error: unknown) => {
    failure = error;
  });
  const taken = (): ReadRecord[] => {
    const complete = records;
    records = [];
    return complete;
  };
  try {
    for await (const piece of piecesOf(source)) {
      const error = await new Promise<unknown>((resolve) => parser.write(piece, resolve));
      yield taken();
      if (error) throw broken(error);
    }
    parser.end();
    await end;
    yield taken();
    if (failure !== undefined) throw broken(failure);
  } finally {
    parser.destroy();
    await end;
  }
}

const isEmpty = (cells: readonly string[]): boolean => cells.every((cell) => cell.trim() === '');

/** The header of a file, and an object that has all of its names: rows with the same names are read faster. */
interface Columns {
  readonly header: readonly string[];
  readonly ignored: ReadonlySet<number>;
  readonly none: Readonly<Record<string, undefined>>;
}

/** Returns the names of the columns, without empty ones at the end: spreadsheets write those of cells once filled. */
function namesOf(cells: readonly string[]): readonly string[] {
  const names = cells.map((name) => name.trim());
  return names.slice(0, names.findLastIndex((name) => name !== '') + 1);
}

/** Returns the content of a row: its cells by the name of their column. Those of empty cells are undefined. */
function contentOf(cells: readonly string[], { header, ignored, none }: Columns) {
  if (cells.length !== header.length) {
    const isMore = cells.length > header.length;
    if (!isMore || !isEmpty(cells.slice(header.length))) {
      const rule = `has ${cells.length} cells, but the header has ${header.length} columns; is a quote missing?`;
      return { problem: { column: 'row', rule } };
    }
  }
  const fields: Record<string, string | undefined> = { ...none };
  for (let index = 0; index < header.length; index++) {
    const cell = cells[index]!;
    if (cell === '' || ignored.has(index)) continue;
    if (cell.includes(brokenByte)) return { problem: { column: header[index]!, rule: utf8Rule } };
    fields[header[index]!] = unguardCell(cell);
  }
  return { fields };
}

/**
 * Yields the rows of a CSV file.
 * @param readHeader checks the names of the columns and returns the indexes of those to ignore. Throws BrokenSource.
 */
export async function* csvRows(
  source: AsyncIterable<Uint8Array>,
  readHeader: (names: readonly string[], line: number) => ReadonlySet<number>,
): AsyncGenerator<RowBatch> {
  const count = { bytes: 0 };
  let columns: Columns | undefined;
  for await (const records of recordsOf(utf8Chunks(counted(source, count)))) {
    const rows: SourceRow[] = [];
    for (const { line, cells } of records) {
      if (isEmpty(cells)) continue;
      if (columns === undefined) {
        const header = namesOf(cells);
        const ignored = readHeader(header, line);
        columns = { header, ignored, none: Object.fromEntries(header.map((name) => [name, undefined])) };
      } else {
        rows.push({ line, content: contentOf(cells, columns), cells });
      }
    }
    yield { rows, bytesRead: count.bytes, ...(columns && { header: columns.header }) };
  }
  if (columns === undefined) {
    throw new BrokenSource(1, { column: 'file', rule: 'is empty; its first row must name the columns' });
  }
}
