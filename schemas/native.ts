/**
 * Encodes rows for the analytics port as one block of ClickHouse's format Native, which holds each column as a whole.
 *
 * Columns are bytes outside of the garbage-collected heap, and values are written to them at once: rows as text take
 * several strings each, and the engine parses them again. Numbers are little-endian, and so must be the machine.
 */

/** A column while rows are added. Each row adds one value to each column. */
interface Column {
  /** The type of the values for ClickHouse, which converts them if the table's type is another. */
  readonly type: string;
  /** Bytes of the values so far. */
  readonly byteLength: number;
  /** Copies the values to `target`. Returns the position after them. */
  copyTo(target: Buffer, position: number): number;
  /** Forgets the values, and keeps the memory for the next ones, unless it is large. */
  clear(): void;
}

const firstBytes = 1_024;
/** Larger memory of a column is freed with its values: it was for a peak. */
const maxKeptBytes = 16 * 2 ** 20;

/** Bytes that grow. */
class Bytes {
  data = Buffer.allocUnsafeSlow(firstBytes);
  length = 0;

  /** Makes space for so many more bytes. */
  reserve(bytes: number): void {
    if (this.length + bytes <= this.data.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(2 * this.data.length, this.length + bytes));
    this.data.copy(grown, 0, 0, this.length);
    this.data = grown;
  }

  clear(): void {
    this.length = 0;
    if (this.data.length > maxKeptBytes) this.data = Buffer.allocUnsafeSlow(firstBytes);
  }
}

/** Writes an integer of at most 53 bits that is not negative, seven bits a byte, lowest first. */
function putVarint(target: Uint8Array, position: number, value: number): number {
  let at = position;
  let rest = value;
  while (rest > 127) {
    target[at++] = (rest % 128) | 128;
    rest = Math.floor(rest / 128);
  }
  target[at++] = rest;
  return at;
}

/** Writes text of at most 127 characters with its length. Returns the position after it, or -1 if it isn't ASCII. */
function putAscii(target: Uint8Array, position: number, value: string): number {
  const { length } = value;
  let at = position;
  target[at++] = length;
  for (let index = 0; index < length; index++) {
    const code = value.charCodeAt(index);
    if (code > 127) return -1;
    target[at++] = code;
  }
  return at;
}

const maxVarintBytes = 8;
/** Loops are faster than calls of native code up to about this length. */
const maxLoopLength = 64;

abstract class ByteColumn implements Column {
  abstract readonly type: string;
  protected readonly bytes = new Bytes();

  get byteLength(): number {
    return this.bytes.length;
  }

  copyTo(target: Buffer, position: number): number {
    return position + this.bytes.data.copy(target, position, 0, this.bytes.length);
  }

  clear(): void {
    this.bytes.clear();
  }
}

/** A column of texts in UTF-8. */
export class TextColumn extends ByteColumn {
  readonly type = 'String';

  /** Adds text. Half of a surrogate pair becomes U+FFFD. */
  add(value: string): void {
    const { bytes } = this;
    const { length } = value;
    if (length <= maxLoopLength) {
      bytes.reserve(length + 1);
      const end = putAscii(bytes.data, bytes.length, value);
      if (end >= 0) {
        bytes.length = end;
        return;
      }
    }
    this.#addEncoded(value);
  }

  #addEncoded(value: string): void {
    const { bytes } = this;
    const length = Buffer.byteLength(value);
    bytes.reserve(maxVarintBytes + length);
    const at = putVarint(bytes.data, bytes.length, length);
    bytes.length = at + bytes.data.write(value, at);
  }

  /** Adds text that is UTF-8 from `start` to before `end`. */
  addBytes(source: Uint8Array, start: number, end: number): void {
    const { bytes } = this;
    const length = end - start;
    bytes.reserve(maxVarintBytes + length);
    const { data } = bytes;
    let at = putVarint(data, bytes.length, length);
    if (length > maxLoopLength) data.set(source.subarray(start, end), at);
    else for (let index = start; index < end; index++) data[at + index - start] = source[index]!;
    at += length;
    bytes.length = at;
  }
}

/** Integers without a sign, of one, two or four bytes. */
export class IntegerColumn extends ByteColumn {
  readonly type: string;

  constructor(private readonly size: 1 | 2 | 4) {
    super();
    this.type = `UInt${8 * size}`;
  }

  /** Adds an unsigned integer of the column's size. */
  add(value: number): void {
    const { bytes, size } = this;
    bytes.reserve(size);
    bytes.length = bytes.data.writeUIntLE(value, bytes.length, size);
  }
}

/** A column of true and false, a byte each. */
export class FlagColumn extends ByteColumn {
  readonly type = 'Bool';

  /** Adds a boolean as one byte. */
  add(value: boolean): void {
    this.bytes.reserve(1);
    this.bytes.data[this.bytes.length++] = value ? 1 : 0;
  }
}

const doubles = new Float64Array(1);
const doubleBytes = new Uint8Array(doubles.buffer);

/** A column of 64-bit floating-point numbers. */
export class DoubleColumn extends ByteColumn {
  readonly type = 'Float64';

  /** Adds a float64. */
  add(value: number): void {
    doubles[0] = value;
    this.addBytes(doubleBytes, 0);
  }

  /** Adds a double that is little-endian from `start`. */
  addBytes(source: Uint8Array, start: number): void {
    const { bytes } = this;
    bytes.reserve(8);
    const { data, length } = bytes;
    for (let index = 0; index < 8; index++) data[length + index] = source[start + index]!;
    bytes.length = length + 8;
  }
}

const twoTo32 = 2 ** 32;

/** A column of times. */
export class TimeColumn extends ByteColumn {
  readonly type = "DateTime64(3, 'UTC')";

  /** Adds a time in epoch ms as an integer of 64 bits. Rounds fractions of a millisecond down. */
  add(epochMs: number): void {
    const { bytes } = this;
    bytes.reserve(8);
    const whole = Math.floor(epochMs);
    const high = Math.floor(whole / twoTo32);
    const { data, length } = bytes;
    putUint32(data, length, whole - high * twoTo32);
    putUint32(data, length + 4, high);
    bytes.length = length + 8;
  }
}

function putUint32(target: Uint8Array, position: number, value: number): void {
  target[position] = value;
  target[position + 1] = value >>> 8;
  target[position + 2] = value >>> 16;
  target[position + 3] = value >>> 24;
}

/** Lists of texts. */
export class TextsColumn implements Column {
  readonly type = 'Array(String)';
  readonly #ends = new Bytes();
  readonly #texts = new TextColumn();
  #count = 0;

  get byteLength(): number {
    return this.#ends.length + this.#texts.byteLength;
  }

  add(values: readonly string[]): void {
    for (const value of values) this.#texts.add(value);
    this.endList(values.length);
  }

  /** Adds UTF-8 to the list that {@link endList} ends. */
  addText(source: Uint8Array, start: number, end: number): void {
    this.#texts.addBytes(source, start, end);
  }

  /** Ends a list of so many texts. The column has the number of all texts up to each end, in 64 bits. */
  endList(count: number): void {
    this.#count += count;
    this.#ends.reserve(8);
    const { data, length } = this.#ends;
    putUint32(data, length, this.#count);
    putUint32(data, length + 4, 0);
    this.#ends.length = length + 8;
  }

  copyTo(target: Buffer, position: number): number {
    const texts = position + this.#ends.data.copy(target, position, 0, this.#ends.length);
    return this.#texts.copyTo(target, texts);
  }

  clear(): void {
    this.#ends.clear();
    this.#texts.clear();
    this.#count = 0;
  }
}

/** A column of values that may be null. `none` is written in place of a null, and ignored. */
export class NullableColumn<Value> implements Column {
  readonly type: string;
  readonly #nulls = new Bytes();
  readonly #values: Column & { add(value: Value): void };
  readonly #none: Value;

  constructor(values: Column & { add(value: Value): void }, none: Value) {
    this.type = `Nullable(${values.type})`;
    this.#values = values;
    this.#none = none;
  }

  get byteLength(): number {
    return this.#nulls.length + this.#values.byteLength;
  }

  add(value: Value | null): void {
    this.#nulls.reserve(1);
    this.#nulls.data[this.#nulls.length++] = value === null ? 1 : 0;
    this.#values.add(value === null ? this.#none : value);
  }

  copyTo(target: Buffer, position: number): number {
    const values = position + this.#nulls.data.copy(target, position, 0, this.#nulls.length);
    return this.#values.copyTo(target, values);
  }

  clear(): void {
    this.#nulls.clear();
    this.#values.clear();
  }
}

/** The columns of a table by name, in the order in which an insert names them. */
export type Columns = Readonly<Record<string, Column>>;

/** Rows of one table, until their insert. */
export class Rows<Table extends Columns> {
  /** By name. */
  readonly columns: Table;
  readonly #names: readonly (readonly [name: string, column: Column])[];
  #size = 0;

  constructor(columns: Table) {
    this.columns = columns;
    this.#names = Object.entries(columns);
  }

  /** The number of rows. */
  get size(): number {
    return this.#size;
  }

  /** The most bytes that the block of all rows takes. */
  get maxBytes(): number {
    let bytes = 2 * maxVarintBytes;
    for (const [name, column] of this.#names) bytes += 2 + name.length + column.type.length + column.byteLength;
    return bytes;
  }

  /** Ends a row, for which each column has got a value. */
  endRow(): void {
    this.#size += 1;
  }

  /** Removes and returns all rows and their number. No rows are no bytes. */
  take(): { readonly rows: Buffer; readonly size: number } {
    const size = this.#size;
    if (size === 0) return { rows: Buffer.alloc(0), size };
    const rows = Buffer.allocUnsafeSlow(this.maxBytes);
    let at = putVarint(rows, 0, this.#names.length);
    at = putVarint(rows, at, size);
    for (const [name, column] of this.#names) {
      at = putAscii(rows, at, name);
      at = putAscii(rows, at, column.type);
      at = column.copyTo(rows, at);
      column.clear();
    }
    this.#size = 0;
    return { rows: rows.subarray(0, at), size };
  }
}
