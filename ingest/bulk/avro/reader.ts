/**
 * Reads Avro values by the writer's schema that the file contains.
 *
 * Unlike the general library it trusts no count, length or schema. The number of bytes bounds time and memory, so a
 * broken or hostile file causes an error and not the end of the process. Union branches are returned bare, times in
 * milliseconds, and other logical types as their base type.
 */
import { isUtf8 } from 'node:buffer';

/** The bytes are not valid Avro. */
export class BrokenAvro extends Error {}

/** The bytes end before the value does. */
export class EndOfBytes extends BrokenAvro {}

type Read = (cursor: Cursor) => unknown;

/** Limit of one value with its nested values: a beacon counts as seven. */
const maxValues = 100_000;
/** Values without bytes, such as null, are charged to those with bytes. */
const valuesPerByte = 4;
const freeValues = 10_000;

/** A position in bytes. Every read checks that enough bytes are left. */
export class Cursor {
  readonly bytes: Buffer;
  position: number;
  #values = 0;
  #valuesBefore = 0;

  constructor(bytes: Buffer, position = 0) {
    this.bytes = bytes;
    this.position = position;
  }

  /** Returns the number of bytes that are left. */
  get left(): number {
    return this.bytes.length - this.position;
  }

  /** Number of values that were read since the last {@link beginValue}. */
  get values(): number {
    return this.#values - this.#valuesBefore;
  }

  /** Restarts the count of nested values. */
  beginValue(): void {
    this.#valuesBefore = this.#values;
  }

  /** Counts one value within another. */
  count(): void {
    this.#values += 1;
    if (this.values > maxValues) throw new BrokenAvro(`holds more than ${maxValues} values in one record`);
    if (this.#values > freeValues + valuesPerByte * this.bytes.length)
      throw new BrokenAvro('holds too many values that take no bytes');
  }

  /** Skips `count` bytes and returns their start. */
  take(count: number): number {
    if (!(count >= 0)) throw new BrokenAvro('has a negative length');
    if (count > this.left) throw new EndOfBytes('ends within a value');
    const start = this.position;
    this.position += count;
    return start;
  }

  /** Returns the next `count` bytes, without a copy. Throws as {@link take} does. */
  slice(count: number): Buffer {
    const start = this.take(count);
    return this.bytes.subarray(start, start + count);
  }

  /** Reads a zigzag varint, seven bits per byte. Beyond 2^52 it is inexact, as numbers are. */
  long(): number {
    let value = 0;
    let factor = 1;
    for (let index = 0; index < 10; index++) {
      const byte = this.bytes[this.take(1)]!;
      value += (byte & 127) * factor;
      if (byte < 128) return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
      factor *= 128;
    }
    throw new BrokenAvro('has a number of more than ten bytes');
  }

  /** Reads text. Returns bytes that are not UTF-8 as they are, for the rules of the field to refuse. */
  text(): string | Buffer {
    const length = this.long();
    const bytes = this.slice(length);
    const text = bytes.toString('utf8');
    return !text.includes('\ufffd') || isUtf8(bytes) ? text : bytes;
  }
}

/** A part of a schema, as the sender wrote it. */
type SchemaObject = Readonly<Record<string, unknown>>;

/** A reader and the depth of its values. */
interface Compiled {
  readonly read: Read;
  readonly depth: number;
}

const leaf = (read: Read): Compiled => ({ read, depth: 0 });

const primitives: ReadonlyMap<unknown, Compiled> = new Map([
  ['null', leaf(() => null)],
  ['boolean', leaf((cursor) => cursor.bytes[cursor.take(1)] === 1)],
  ['int', leaf((cursor) => cursor.long())],
  ['long', leaf((cursor) => cursor.long())],
  ['float', leaf((cursor) => cursor.bytes.readFloatLE(cursor.take(4)))],
  ['double', leaf((cursor) => cursor.bytes.readDoubleLE(cursor.take(8)))],
  ['bytes', leaf((cursor) => cursor.slice(cursor.long()))],
  ['string', leaf((cursor) => cursor.text())],
]);

/** Spark, Flink and BigQuery write microseconds. A field of a location takes milliseconds. */
const unitsPerMs: ReadonlyMap<unknown, number> = new Map([
  ['timestamp-micros', 1_000],
  ['local-timestamp-micros', 1_000],
  ['timestamp-nanos', 1_000_000],
  ['local-timestamp-nanos', 1_000_000],
]);

/** Arrays and maps consist of counted blocks. A block with count zero ends them. */
function readRuns(cursor: Cursor, readItem: () => void): void {
  for (;;) {
    const given = cursor.long();
    if (given === 0) return;
    if (given < 0) cursor.long();
    const count = Math.abs(given);
    if (count > cursor.left) throw new EndOfBytes('counts more items than it has bytes');
    for (let index = 0; index < count; index++) {
      cursor.count();
      readItem();
    }
  }
}

/** Limit of the nesting of schemas and values. */
const maxDepth = 32;

const maxNameCharacters = 1_000;

function nameIn(value: unknown, what: string): string {
  if (typeof value === 'string' && value.length <= maxNameCharacters) return value;
  throw new BrokenAvro(`has a schema in which ${what} is not text of at most ${maxNameCharacters} characters`);
}

function listIn(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new BrokenAvro(`has a schema in which ${what} is not a list`);
}

function objectIn(value: unknown, what: string): SchemaObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as SchemaObject;
  throw new BrokenAvro(`has a schema in which ${what} is not an object`);
}

function readUnion(branches: readonly Read[]): Read {
  return (cursor) => {
    const read = branches[cursor.long()];
    if (read === undefined) throw new BrokenAvro('names a union branch that does not exist');
    return read(cursor);
  };
}

function readEnum(symbols: readonly string[]): Read {
  return (cursor) => {
    const symbol = symbols[cursor.long()];
    if (symbol === undefined) throw new BrokenAvro('names a symbol that does not exist');
    return symbol;
  };
}

function readRecord(fields: readonly { name: string; read: Read }[]): Read {
  return (cursor) => {
    const record: Record<string, unknown> = Object.create(null);
    for (const { name, read } of fields) {
      cursor.count();
      record[name] = read(cursor);
    }
    return record;
  };
}

/**
 * Creates a reader of values of the schema. Throws {@link BrokenAvro} when it is no Avro schema. Schemas that contain
 * themselves are refused.
 */
export function createAvroReader(schema: unknown): Read {
  const named = new Map<string, Compiled>();

  /** Makes the reader of a value with nested values, one level deeper than the deepest of them. */
  function holding(parts: readonly Compiled[], read: Read): Compiled {
    const depth = 1 + parts.reduce((deepest, part) => Math.max(deepest, part.depth), 0);
    if (depth > maxDepth) throw tooDeep();
    return { read, depth };
  }

  function nameOf(object: SchemaObject, namespace: string): { full: string; inner: string } {
    const name = nameIn(object.name, 'the name of a type');
    const own = object.namespace === undefined ? namespace : nameIn(object.namespace, 'a namespace');
    // A name with a dot is whole, whatever namespace is given beside it.
    if (name.includes('.')) return { full: name, inner: name.slice(0, name.lastIndexOf('.')) };
    return { full: own === '' ? name : `${own}.${name}`, inner: own };
  }

  function recordReader({ fields }: SchemaObject, namespace: string, depth: number): Compiled {
    const parts = listIn(fields, '`fields` of a record').map((field) => {
      const { name, type } = objectIn(field, 'a field of a record');
      return { name: nameIn(name, 'the name of a field'), compiled: compile(type, namespace, depth + 1) };
    });
    return holding(
      parts.map(({ compiled }) => compiled),
      readRecord(parts.map(({ name, compiled }) => ({ name, read: compiled.read }))),
    );
  }

  function fixedReader({ size }: SchemaObject): Compiled {
    if (!Number.isSafeInteger(size) || (size as number) < 0) {
      throw new BrokenAvro('has a schema in which the `size` of a fixed type is not a whole number of at least 0');
    }
    return leaf((cursor) => cursor.slice(size as number));
  }

  function enumReader({ symbols }: SchemaObject): Compiled {
    return leaf(readEnum(listIn(symbols, '`symbols` of an enum').map((symbol) => nameIn(symbol, 'a symbol'))));
  }

  function arrayReader({ items }: SchemaObject, namespace: string, depth: number): Compiled {
    const part = compile(items, namespace, depth + 1);
    return holding([part], (cursor) => {
      const list: unknown[] = [];
      readRuns(cursor, () => list.push(part.read(cursor)));
      return list;
    });
  }

  function mapReader({ values }: SchemaObject, namespace: string, depth: number): Compiled {
    const part = compile(values, namespace, depth + 1);
    return holding([part], (cursor) => {
      const entries: Record<string, unknown> = Object.create(null);
      readRuns(cursor, () => {
        const key = cursor.text();
        if (typeof key !== 'string') throw new BrokenAvro('has a map whose key is not UTF-8');
        entries[key] = part.read(cursor);
      });
      return entries;
    });
  }

  function namedReader(object: SchemaObject, namespace: string, depth: number): Compiled {
    const { full, inner } = nameOf(object, namespace);
    const compiled =
      object.type === 'record'
        ? recordReader(object, inner, depth)
        : object.type === 'enum'
          ? enumReader(object)
          : fixedReader(object);
    named.set(full, compiled);
    return compiled;
  }

  function compile(part: unknown, namespace: string, depth: number): Compiled {
    if (depth > maxDepth) throw tooDeep();
    if (Array.isArray(part)) {
      const branches = part.map((branch) => compile(branch, namespace, depth + 1));
      return holding(branches, readUnion(branches.map(({ read }) => read)));
    }
    if (typeof part === 'string') {
      const name = nameIn(part, 'the name of a type');
      const known = primitives.get(name) ?? named.get(`${namespace}.${name}`) ?? named.get(name);
      if (known === undefined) throw new BrokenAvro(`has a schema that names an unknown type, ${name.slice(0, 100)}`);
      return known;
    }
    if (typeof part !== 'object' || part === null) throw new BrokenAvro('has a schema in which a type is missing');
    const object = part as SchemaObject;
    switch (object.type) {
      case 'record':
      case 'enum':
      case 'fixed':
        return namedReader(object, namespace, depth);
      case 'array':
        return arrayReader(object, namespace, depth);
      case 'map':
        return mapReader(object, namespace, depth);
      default: {
        const units = object.type === 'long' ? unitsPerMs.get(object.logicalType) : undefined;
        if (units !== undefined) return leaf((cursor) => Math.floor(cursor.long() / units));
        return compile(object.type, namespace, depth + 1);
      }
    }
  }

  return compile(schema, '', 0).read;
}

const tooDeep = (): BrokenAvro => new BrokenAvro(`has a schema that nests deeper than ${maxDepth} levels`);
