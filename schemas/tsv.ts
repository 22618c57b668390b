/** Encodes rows for the analytics port: tab-separated text with ClickHouse's escapes, after a line of column names. */
import { utcTime } from './wire/common.js';

const special = /[\\\t\n\r]/;
const escapes: { readonly [character: string]: string } = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  "'": "\\'",
};
const escaped = (character: string): string => escapes[character] as string;

/** Encodes the value of a String column. */
export const text = (value: string): string => (special.test(value) ? value.replace(/[\\\t\n\r]/g, escaped) : value);

/** Encodes the value of a Nullable column that needs no escapes. */
export const nullable = (value: number | boolean | null): string => (value === null ? '\\N' : `${value}`);

/** Encodes epoch milliseconds for a DateTime64(3) column. */
export const time = utcTime;

/** Encodes epoch milliseconds for a Nullable(DateTime64(3)) column. */
export const nullableTime = (epochMs: number | null): string => (epochMs === null ? nullable(null) : time(epochMs));

const quoted = (value: string): string => `'${value.replace(/[\\\t\n\r']/g, escaped)}'`;

/** Encodes the value of an Array(String) column. */
export const texts = (values: readonly string[]): string =>
  values.length === 0 ? '[]' : `[${values.map(quoted).join()}]`;

/**
 * Characters that are encoded to bytes at once. Encoding single rows costs more, and keeping text burdens the garbage
 * collector.
 */
const chunkLength = 1 << 16;

/** Buffers the rows of one table as bytes outside of the garbage-collected heap. */
export class RowText {
  readonly #columns: string;
  #size = 0;
  #chunks: Buffer[] = [];
  #chunk = '';

  constructor(columns: readonly string[]) {
    this.#columns = `${columns.join('\t')}\n`;
  }

  /** Number of buffered rows. */
  get size(): number {
    return this.#size;
  }

  /** Adds a row: the values in the order of the columns, separated by tabs. */
  add(row: string): void {
    this.#size++;
    this.#chunk += `${row}\n`;
    if (this.#chunk.length >= chunkLength) this.#endChunk();
  }

  /** Removes and returns all rows and their number. */
  take(): { readonly rows: Buffer; readonly size: number } {
    this.#endChunk();
    const taken = { rows: Buffer.concat([Buffer.from(this.#columns), ...this.#chunks]), size: this.#size };
    this.#chunks = [];
    this.#size = 0;
    return taken;
  }

  #endChunk(): void {
    this.#chunks.push(Buffer.from(this.#chunk));
    this.#chunk = '';
  }
}

/** Encodes the given rows of one table. */
export function rowText(columns: readonly string[], rows: Iterable<string>): Buffer {
  const result = new RowText(columns);
  for (const row of rows) result.add(row);
  return result.take().rows;
}
