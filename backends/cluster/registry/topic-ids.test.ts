/** Frames of any version survive the way to the wire and back. Foreign frames are never accepted as ours. */
import avro from 'avsc';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Codec, codecs, createCodec } from '../../../schemas/codecs.js';
import { asFirstVersion, encodeFirstVersion } from '../../../schemas/testing/older-events.js';
import * as arbitrary from '../../../schemas/testing/records.js';
import { shippedSchemas } from './shipped-schemas.js';
import { TopicIds } from './topic-ids.js';

const codec = codecs.event;
const fixedId = codec.schemaId;
const writeId = 1_000;
const { schema } = shippedSchemas.versions.findLast(({ topic }) => topic === 'events')!;

type Field = { name: string; type: unknown; default?: unknown };
/** The event's schema with other fields. */
function changed(change: (fields: Field[]) => Field[]): string {
  const parsed = JSON.parse(schema);
  return JSON.stringify({ ...parsed, fields: change(parsed.fields) });
}
const codecOf = (text: string, id: number): Codec<unknown> =>
  createCodec(avro.Type.forSchema(JSON.parse(text), { registry: {}, wrapUnions: false }), id);

const symbols = (...names: string[]) => ({ type: 'enum', name: 'fenceline.Environment', symbols: names });

const eventIds = (): TopicIds => new TopicIds(codec, writeId);
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test('a frame is the same after a round trip', () => {
  const ids = eventIds();
  fc.assert(
    fc.property(arbitrary.event, (event) => {
      const frame = codec.encode(event);
      const before = Buffer.from(frame);
      ids.toWire(frame);
      expect(frame.readUInt32BE(1)).toBe(writeId);
      const onWire = Buffer.from(frame);
      ids.toWire(frame);
      expect(frame).toEqual(onWire);
      expect(ids.unknownIn([frame])).toEqual(new Set());
      expect(ids.fromWire(frame)).toEqual(before);
    }),
  );
});

test('other values are not changed in either direction', () => {
  const ids = eventIds();
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const value = Buffer.from(bytes);
      fc.pre(!(value.length >= 5 && value[0] === 0 && [fixedId, writeId].includes(value.readUInt32BE(1))));
      ids.toWire(value);
      expect(ids.fromWire(value)).toBe(value);
      expect(value).toEqual(Buffer.from(bytes));
    }),
  );
});

describe('a frame of another version', () => {
  const older = changed((fields) => fields.filter(({ name }) => name !== 'source'));
  const newer = changed((fields) => [
    { name: 'mood', type: ['null', 'string'], default: null },
    ...fields,
    { name: 'weight', type: 'double', default: 0 },
  ]);

  test('that lacks a field is read with its default', () => {
    const ids = eventIds();
    ids.learn(7, older);
    fc.assert(
      fc.property(arbitrary.event, (event) => {
        const read = ids.fromWire(codecOf(older, 7).encode(event));
        expect(plain(codec.decode(read))).toEqual(plain({ ...event, source: null }));
      }),
    );
  });

  test('with newer fields is read without them', () => {
    const ids = eventIds();
    ids.learn(fixedId, newer);
    fc.assert(
      fc.property(arbitrary.event, (event) => {
        const read = ids.fromWire(codecOf(newer, fixedId).encode({ mood: 'good', ...event, weight: 2 }));
        expect(plain(codec.decode(read))).toEqual(plain(event));
      }),
    );
  });

  test('that differs only in descriptions keeps its bytes', () => {
    const ids = eventIds();
    ids.learn(7, schema.replaceAll(/"doc":"[^"]*"/g, '"doc":"other words"'));
    const frame = codecOf(schema, 7).encode(fc.sample(arbitrary.event, 1)[0]!);
    expect(ids.fromWire(frame)).toBe(frame);
    expect(frame.readUInt32BE(1)).toBe(fixedId);
  });

  test('is not changed when its body is invalid', () => {
    const ids = eventIds();
    ids.learn(7, older);
    const frame = codecOf(older, 7).encode(fc.sample(arbitrary.event, 1)[0]!);
    for (const broken of [frame.subarray(0, -1), frame.subarray(0, 9), Buffer.concat([frame, Buffer.of(1)])]) {
      const before = Buffer.from(broken);
      expect(ids.fromWire(broken)).toEqual(before);
    }
  });

  test.each([
    ['lacks a field that has no default', changed((fields) => fields.filter(({ name }) => name !== 'confidence'))],
    [
      'has a symbol that is not known',
      changed((fields) =>
        fields.map((field) =>
          field.name === 'environment' ? { ...field, type: symbols('test', 'live', 'moon') } : field,
        ),
      ),
    ],
    ['is of another record', shippedSchemas.versions.find(({ name }) => name === 'delivery.v1')!.schema],
    ['is no Avro', '{"type":"object"}'],
    ['is nothing at all', ''],
  ])('is not changed when its schema %s', (_, text) => {
    const ids = eventIds();
    expect(ids.canRead(text)).toBe(false);
    ids.learn(7, text);
    const frame = Buffer.from([0, 0, 0, 0, 7, 1, 2, 3]);
    expect(ids.fromWire(frame)).toEqual(Buffer.from([0, 0, 0, 0, 7, 1, 2, 3]));
    expect(ids.unknownIn([frame])).toEqual(new Set());
  });
});

test.each([...codec.readableIds])("what isn't ours never has the topic's fixed id %s afterwards", (id) => {
  const ids = eventIds();
  const frame = codec.encode(fc.sample(arbitrary.event, 1)[0]!);
  frame.writeUInt32BE(id, 1);
  expect(ids.unknownIn([frame])).toEqual(new Set([id]));
  ids.learnForeign(id, Date.now());
  expect(ids.unknownIn([frame])).toEqual(new Set());
  expect(() => codec.decode(ids.fromWire(frame))).toThrow('schema id 0');
});

test('an event of an earlier release is encoded again as the newest', () => {
  const ids = eventIds();
  for (const { name, schema, topic } of shippedSchemas.versions)
    if (topic === 'events') ids.learn(idOfVersion(name), schema);
  fc.assert(
    fc.property(arbitrary.event, (event) => {
      const frame = encodeFirstVersion(event);
      frame.writeUInt32BE(idOfVersion('event.v1'), 1);
      expect(ids.fromWire(frame)).toEqual(codec.encode(asFirstVersion(event)));
    }),
  );
});

// A node of an earlier release, beside nodes of this one or after a way back.
test('an earlier release reads events of this one without the newer fields', () => {
  const earlier = codecOf(shippedSchemas.versions.find(({ name }) => name === 'event.v1')!.schema, 3);
  const ids = new TopicIds(earlier, idOfVersion('event.v1'));
  ids.learn(writeId, schema);
  fc.assert(
    fc.property(arbitrary.event, (event) => {
      const frame = codec.encode(event);
      eventIds().toWire(frame);
      expect(ids.fromWire(frame)).toEqual(encodeFirstVersion(event));
    }),
  );
});

const idOfVersion = (name: string): number => 100 + Number(name.split('.v')[1]);

test('an id keeps its first meaning', () => {
  const ids = eventIds();
  ids.learn(7, schema);
  ids.learn(7, '{}');
  const frame = codecOf(schema, 7).encode(fc.sample(arbitrary.event, 1)[0]!);
  expect(ids.fromWire(frame).readUInt32BE(1)).toBe(fixedId);
});

test('foreign ids are looked up again after a minute, and earlier when there are too many', () => {
  const ids = eventIds();
  const frame = (id: number) => Buffer.from([0, 0, id >> 16, id >> 8, id, 1]);
  ids.learnForeign(8, Date.now() - 61_000);
  ids.learnForeign(9, Date.now());
  expect(ids.unknownIn([null, frame(8), frame(9), Buffer.from('text')])).toEqual(new Set([8]));
  for (let id = 10; id < 20_005; id++) ids.learnForeign(id, Date.now());
  expect(ids.unknownIn(Array.from({ length: 20_000 }, (_, index) => frame(index + 10))).size).toBeGreaterThanOrEqual(
    10_000,
  );
});
