import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Type } from './avro-type.js';
import {
  type AvroWriter,
  encodeWith,
  type Write,
  writeDouble,
  writeFlag,
  writeLong,
  writeText,
} from './avro-writer.js';
import { propertyRuns } from './testing/property-runs.js';

/** Returns what is written, in a target with space to spare. */
function written<T>(write: Write<T>, value: T): Buffer {
  const target = Buffer.alloc(100_000);
  return target.subarray(0, encodeWith(write)(value, target, 0));
}

const text = fc.oneof(
  fc.string({ maxLength: 70 }),
  fc.string({ maxLength: 70, unit: 'grapheme' }),
  fc.string({ maxLength: 400, unit: 'binary' }),
  fc.tuple(fc.constantFrom('a', 'é', '語', '🗺️', '\0'), fc.nat(9_000)).map(([unit, count]) => unit.repeat(count)),
);
const safeInteger = fc.maxSafeInteger().filter((value) => Math.abs(value) < Number.MAX_SAFE_INTEGER);

const kinds: { name: string; schema: object | string; values: fc.Arbitrary<unknown>; write: Write<never> }[] = [
  { name: 'text', schema: 'string', values: text, write: writeText },
  { name: 'integers', schema: 'long', values: fc.oneof(fc.integer(), safeInteger), write: writeLong },
  { name: 'doubles', schema: 'double', values: fc.double(), write: writeDouble },
  { name: 'flags', schema: 'boolean', values: fc.boolean(), write: writeFlag },
  {
    name: 'optional values',
    schema: ['null', 'string'],
    values: fc.option(text),
    write: (writer: AvroWriter, value: string | null) => writer.optional(value, writeText),
  },
  {
    name: 'lists',
    schema: { type: 'array', items: 'long' },
    values: fc.array(fc.integer(), { maxLength: 200 }),
    write: (writer: AvroWriter, value: number[]) => writer.list(value, writeLong),
  },
];

describe.each(kinds)('writes $name', ({ schema, values, write }) => {
  const type = Type.forSchema(schema as never, { wrapUnions: false });

  it('as the general library does', () => {
    fc.assert(
      fc.property(values, (value) => {
        expect(written(write as Write<unknown>, value).equals(type.toBuffer(value))).toBe(true);
      }),
      { numRuns: propertyRuns(1_000) },
    );
  });

  it('at any position, or returns -1 if they do not fit', () => {
    fc.assert(
      fc.property(values, fc.nat(9), fc.integer({ min: -9, max: 40 }), (value, position, spare) => {
        const expected = type.toBuffer(value);
        const target = Buffer.alloc(Math.max(0, position + expected.length + spare), 7);
        const end = encodeWith(write as Write<unknown>)(value, target, position);
        expect(end).toBe(position + expected.length <= target.length ? position + expected.length : -1);
        if (end >= 0) expect(target.subarray(position, end).equals(expected)).toBe(true);
        expect(target.subarray(0, position).every((byte) => byte === 7)).toBe(true);
      }),
      { numRuns: propertyRuns(1_000) },
    );
  });
});

it('writes an unset optional value as null', () => {
  expect(written((writer, value) => writer.optional(value, writeText), undefined)).toEqual(Buffer.from([0]));
});

it('writes half of a surrogate pair as U+FFFD, whatever the length of the text', () => {
  for (const length of [0, 20, 100]) {
    const halved = `${'a'.repeat(length)}\ud800b`;
    expect(written(writeText, halved).toString()).toContain(`${'a'.repeat(length)}\ufffdb`);
  }
});

it('writes symbols by their index, and refuses values of no schema', () => {
  const symbol: Write<string> = (writer, value) => writer.symbol(['a', 'b'], value);
  expect(written(symbol, 'b')).toEqual(Buffer.from([2]));
  expect(() => written(symbol, 'c')).toThrow('c is none of a,b');
  for (const value of [Number.NaN, 0.5, 2 ** 53]) expect(() => written(writeLong, value)).toThrow('is no integer');
});
