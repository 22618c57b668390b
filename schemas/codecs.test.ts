/** Compares the types of `records.ts` with the schemas in `avro/`, and reads every version that ever shipped. */
import { readdirSync, readFileSync } from 'node:fs';
import avro from 'avsc';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  attemptType,
  changeType,
  codecs,
  createCodec,
  deadLetterType,
  deliveryType,
  deviceStateType,
  eventType,
  locationType,
  outcomeType,
  rejectionType,
} from './codecs.js';
import { asFirstVersion, encodeFirstVersion, recordedFrames } from './testing/older-events.js';
import * as arbitrary from './testing/records.js';

const types: Record<string, { type: avro.Type; values: fc.Arbitrary<unknown> }> = {
  location: { type: locationType, values: arbitrary.location },
  outcome: { type: outcomeType, values: arbitrary.outcome },
  event: { type: eventType, values: arbitrary.event },
  change: { type: changeType, values: arbitrary.change },
  'dead-letter': { type: deadLetterType, values: arbitrary.deadLetter },
  delivery: { type: deliveryType, values: arbitrary.delivery },
  attempt: { type: attemptType, values: arbitrary.attempt },
  rejection: { type: rejectionType, values: arbitrary.rejection },
  'device-state': { type: deviceStateType, values: arbitrary.deviceState },
};
const cases = Object.entries(types).map(([name, { type, values }]) => ({ name, type, values }));

/** Copies class instances, which decoding returns, to plain objects. */
const plain = (value: unknown): unknown => {
  if (Buffer.isBuffer(value) || value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(plain);
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, plain(field)]));
};

describe.each(cases)('$name', ({ name, type, values }) => {
  test('type and schema have the same fields', () => {
    fc.assert(
      fc.property(values, (value) => {
        const options = { noUndeclaredFields: true } as Parameters<avro.Type['isValid']>[1];
        expect(type.isValid(value, options)).toBe(true);
        expect(plain(type.fromBuffer(type.toBuffer(value)))).toEqual(value);
      }),
    );
  });

  const folder = new URL('./avro/versions/', import.meta.url);
  const versionFiles = readdirSync(folder)
    .filter((file) => file.startsWith(`${name}.v`))
    .sort((a, b) => versionOf(a) - versionOf(b));
  const readVersion = (file: string): avro.Schema => JSON.parse(readFileSync(new URL(file, folder), 'utf8'));

  // A failure means that the schema changed: add the printed schema as the next version, and never edit an older one.
  test('the schema is the newest of the shipped versions', () => {
    expect(type.schema({ exportAttrs: true })).toEqual(readVersion(versionFiles.at(-1) as string));
  });

  test.each(versionFiles)('the newest reader reads records of %s', (file) => {
    const writer = avro.Type.forSchema(readVersion(file), { registry: {}, wrapUnions: false });
    const resolver = type.createResolver(writer);
    for (let count = 0; count < 50; count++) {
      const written = writer.random();
      expect(type.isValid(type.fromBuffer(writer.toBuffer(written), resolver))).toBe(true);
    }
  });
});

const versionOf = (file: string): number => Number(/\.v(\d+)\.avsc$/.exec(file)?.[1]);

describe('a codec', () => {
  test('frames in the Confluent wire format: zero, schema id, body', () => {
    fc.assert(
      fc.property(arbitrary.location, fc.integer({ min: 1, max: 2 ** 31 - 1 }), (location, schemaId) => {
        const codec = createCodec(locationType, schemaId);
        const frame = codec.encode(location as never);
        expect(frame[0]).toBe(0);
        expect(frame.readUInt32BE(1)).toBe(schemaId);
        expect(frame.subarray(5)).toEqual(locationType.toBuffer(location));
        expect(plain(codec.decode(frame))).toEqual(location);
      }),
    );
  });

  test('encodes into a buffer the same bytes as alone, or returns -1 if they do not fit', () => {
    fc.assert(
      fc.property(arbitrary.event, fc.nat(20), fc.nat(400), (event, position, freeBytes) => {
        const alone = codecs.event.encode(event);
        const target = Buffer.alloc(position + freeBytes);
        const end = codecs.event.encodeInto(event, target, position);
        expect(end).toBe(alone.length <= freeBytes ? position + alone.length : -1);
        if (end >= 0) expect(target.subarray(position, end)).toEqual(alone);
      }),
    );
  });

  // Logs of embedded nodes keep the frames of earlier releases.
  test('of events decodes frames of the first version, with defaults for what they lack', () => {
    for (const { frame, event } of recordedFrames) expect(plain(codecs.event.decode(frame))).toEqual(event);
    fc.assert(
      fc.property(arbitrary.event, (event) => {
        const frame = encodeFirstVersion(event);
        expect(plain(codecs.event.decode(frame))).toEqual(asFirstVersion(event));
        expect(() => codecs.event.decode(frame.subarray(0, -1))).toThrow();
      }),
    );
  });

  test('has ids that no other codec reads', () => {
    const ids = Object.values(codecs).flatMap(({ readableIds }) => [...readableIds]);
    expect(ids.toSorted()).toEqual([...new Set(ids)].toSorted());
  });

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['another magic byte', Buffer.from([1, 0, 0, 0, 1])],
    ['another schema', Buffer.from([0, 0, 0, 0, 9, 1])],
    ['a body cut short', codecs.change.encode({ kind: 'project', id: 'a', changedAt: 1, record: '{}' }).subarray(0, 9)],
  ])('refuses %s', (_, frame) => {
    expect(() => codecs.change.decode(frame)).toThrow();
  });
});
