/** Rows as the analytics port takes them: tab-separated text with ClickHouse's escapes, the columns' names first. */
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

/** The value of a String column. */
export const text = (value: string): string => (special.test(value) ? value.replace(/[\\\t\n\r]/g, escaped) : value);

/** The value of a Nullable column that needs no escapes. */
export const nullable = (value: number | boolean | null): string => (value === null ? '\\N' : `${value}`);

/** The value of a DateTime64(3) column, of epoch milliseconds. */
export const time = utcTime;

/** The value of a Nullable(DateTime64(3)) column. */
export const nullableTime = (epochMs: number | null): string => (epochMs === null ? nullable(null) : time(epochMs));

const quoted = (value: string): string => `'${value.replace(/[\\\t\n\r']/g, escaped)}'`;

/** The value of an Array(String) column. */
export const texts = (values: readonly string[]): string =>
  values.length === 0 ? '[]' : `[${values.map(quoted).join()}]`;

/**
 * Characters that are turned into bytes at once: by the row it would cost more, and texts that wait would burden the
 * garbage collector.
 */
const chunkLength = 1 << 16;

/** The rows that wait for one table, as bytes outside of the garbage collected heap. */
export class RowText {
  readonly #columns: string;
  #size = 0;
  #chunks: Buffer[] = [];
  #chunk = '';

  constructor(columns: readonly string[]) {
    this.#columns = `${columns.join('\t')}\n`;
  }

  /** Rows that wait. */
  get size(): number {
    return this.#size;
  }

  /** A row is the columns' values in their order, with tabs between. */
  add(row: string): void {
    this.#size++;
    this.#chunk += `${row}\n`;
    if (this.#chunk.length >= chunkLength) this.#endChunk();
  }

  /** All rows that wait, and their number; afterwards none do. */
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

/** Rows of one table that are at hand already. */
export function rowText(columns: readonly string[], rows: Iterable<string>): Buffer {
  const result = new RowText(columns);
  for (const row of rows) result.add(row);
  return result.take().rows;
}
