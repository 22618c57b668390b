/**
 * Reads Avro values by a writer's schema that comes with the data.
 *
 * Unlike the general library it trusts no count and no length: whatever the bytes say, reading ends with the bytes, so that a file that is
 * broken, or made to be, costs an error and not the process. Union branches come bare; logical types come as their base type.
 */

import { isUtf8 } from 'node:buffer';

/** The bytes say something impossible. */
export class BrokenAvro extends Error {}

/** The bytes end before the value does. */
export class EndOfBytes extends BrokenAvro {}

type Read = (cursor: Cursor) => unknown;

/** A position in bytes. Every read checks that there is enough left. */
export class Cursor {
  readonly bytes: Buffer;
  position: number;

  constructor(bytes: Buffer, position = 0) {
    this.bytes = bytes;
    this.position = position;
  }

  get left(): number {
    return this.bytes.length - this.position;
  }

  /** The start of the next `count` bytes, which are passed over. */
  take(count: number): number {
    if (!(count >= 0)) throw new BrokenAvro('has a negative length');
    if (count > this.left) throw new EndOfBytes('ends within a value');
    const start = this.position;
    this.position += count;
    return start;
  }

  slice(count: number): Buffer {
    const start = this.take(count);
    return this.bytes.subarray(start, start + count);
  }

  /** Zigzag, seven bits a byte. Beyond 2^52 it is inexact, as numbers are. */
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

  /** The text, or, where the bytes are not UTF-8, the bytes: for the rules of the field to refuse. */
  text(): string | Buffer {
    const length = this.long();
    const bytes = this.slice(length);
    const text = bytes.toString('utf8');
    return !text.includes('\ufffd') || isUtf8(bytes) ? text : bytes;
  }
}

type Schema = string | readonly Schema[] | SchemaObject;

interface SchemaObject {
  readonly type: Schema;
  readonly name?: string;
  readonly namespace?: string;
  readonly fields?: readonly { readonly name: string; readonly type: Schema }[];
  readonly symbols?: readonly string[];
  readonly size?: number;
  readonly items?: Schema;
  readonly values?: Schema;
}

const primitives: Readonly<Record<string, Read>> = {
  null: () => null,
  boolean: (cursor) => cursor.bytes[cursor.take(1)] === 1,
  int: (cursor) => cursor.long(),
  long: (cursor) => cursor.long(),
  float: (cursor) => cursor.bytes.readFloatLE(cursor.take(4)),
  double: (cursor) => cursor.bytes.readDoubleLE(cursor.take(8)),
  bytes: (cursor) => cursor.slice(cursor.long()),
  string: (cursor) => cursor.text(),
};

/** Arrays and maps come in counted runs; a run of count zero ends them. */
function readRuns(cursor: Cursor, readItem: () => void): void {
  for (;;) {
    const given = cursor.long();
    if (given === 0) return;
    if (given < 0) cursor.long();
    const count = Math.abs(given);
    if (count > cursor.left) throw new EndOfBytes('counts more items than it has bytes');
    for (let index = 0; index < count; index++) readItem();
  }
}

/** How deep schemas and values may nest. */
const maxDepth = 32;

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
    for (const { name, read } of fields) record[name] = read(cursor);
    return record;
  };
}

/** A reader of values of the schema. Throws {@link BrokenAvro} when it is no Avro schema. Schemas that contain themselves are refused. */
export function createAvroReader(schema: unknown): Read {
  const named = new Map<string, Read>();

  function nameOf({ name = '', namespace: own }: SchemaObject, namespace: string): { full: string; inner: string } {
    const inner = own ?? (name.includes('.') ? name.slice(0, name.lastIndexOf('.')) : namespace);
    return { full: name.includes('.') || inner === '' ? name : `${inner}.${name}`, inner };
  }

  function namedReader(object: SchemaObject, namespace: string, depth: number): Read | undefined {
    const { full, inner } = nameOf(object, namespace);
    const read =
      object.type === 'enum' && object.symbols
        ? readEnum(object.symbols)
        : object.type === 'fixed' && object.size !== undefined
          ? (cursor: Cursor) => cursor.slice(object.size!)
          : object.type === 'record' && object.fields
            ? readRecord(object.fields.map(({ name, type }) => ({ name, read: compile(type, inner, depth + 1) })))
            : undefined;
    if (read) named.set(full, read);
    return read;
  }

  function containerReader(object: SchemaObject, namespace: string, depth: number): Read | undefined {
    if (object.type === 'array' && object.items !== undefined) {
      const read = compile(object.items, namespace, depth + 1);
      return (cursor) => {
        const items: unknown[] = [];
        readRuns(cursor, () => items.push(read(cursor)));
        return items;
      };
    }
    if (object.type !== 'map' || object.values === undefined) return undefined;
    const read = compile(object.values, namespace, depth + 1);
    return (cursor) => {
      const entries: Record<string, unknown> = Object.create(null);
      readRuns(cursor, () => {
        const key = cursor.text();
        if (typeof key !== 'string') throw new BrokenAvro('has a map whose key is not UTF-8');
        entries[key] = read(cursor);
      });
      return entries;
    };
  }

  function compile(part: Schema, namespace: string, depth: number): Read {
    if (depth > maxDepth) throw new BrokenAvro('has a schema that nests too deep');
    if (Array.isArray(part)) return readUnion(part.map((branch) => compile(branch, namespace, depth + 1)));
    if (typeof part === 'string') {
      const read = primitives[part] ?? named.get(`${namespace}.${part}`) ?? named.get(part);
      if (read === undefined) throw new BrokenAvro(`has a schema that names an unknown type, ${part.slice(0, 100)}`);
      return read;
    }
    if (typeof part !== 'object' || part === null) throw new BrokenAvro('has no Avro schema');
    const object = part as SchemaObject;
    return (
      namedReader(object, namespace, depth) ??
      containerReader(object, namespace, depth) ??
      compile(object.type, namespace, depth + 1)
    );
  }

  return compile(schema as Schema, '', 0);
}
