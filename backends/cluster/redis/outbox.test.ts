import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Commit, topics } from '../../../pipeline/ports.js';
import { anyCharacter } from '../../../testing/any-character.js';
import { decodeOutbox, encodeOutbox } from './outbox.js';

const text = fc.oneof(fc.string({ maxLength: 20 }), fc.string({ unit: anyCharacter, maxLength: 20 }));
const value = fc.option(fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)));
const headers = fc.dictionary(text, text, { maxKeys: 3, noNullPrototype: true });
const group = fc.record({
  topic: fc.constantFrom(...Object.values(topics)),
  records: fc.array(fc.record({ key: text, value, headers }, { requiredKeys: ['key', 'value'] }), { maxLength: 6 }),
});
const publications: fc.Arbitrary<Commit['publish']> = fc.array(group, { maxLength: 4 });

test('decodes what was encoded, except topics without records', () => {
  fc.assert(
    fc.property(publications, (publish) => {
      expect(decodeOutbox(encodeOutbox(publish))).toEqual(publish.filter(({ records }) => records.length > 0));
    }),
  );
});

test('nothing to publish is encoded as an empty value', () => {
  expect(encodeOutbox([])).toHaveLength(0);
  expect(encodeOutbox([{ topic: 'events', records: [] }])).toHaveLength(0);
});

test('a shipped layout stays readable, and is written when no record has headers', () => {
  const shipped = Buffer.from('01000000066576656e74730000000200000002c3a90000000300ff0000000161' + '00000000', 'hex');
  const publish = [
    {
      topic: topics.events,
      records: [
        { key: 'é', value: Buffer.from([0, 255]) },
        { key: 'a', value: null },
      ],
    },
  ];
  expect(decodeOutbox(shipped)).toEqual(publish);
  expect(encodeOutbox(publish)).toEqual(shipped);
});

// The events of a failover were in no trace: their webhooks could not be followed to the request that made them.
test('a layout with headers stays readable', () => {
  const shipped = Buffer.from(
    '02000000066576656e747300000002000000016100000002ff000000167b227472616365706172656e74223a' +
      '2230302d31227d00000001620000000000000000',
    'hex',
  );
  const publish = [
    {
      topic: topics.events,
      records: [
        { key: 'a', value: Buffer.from([255]), headers: { traceparent: '00-1' } },
        { key: 'b', value: null },
      ],
    },
  ];
  expect(decodeOutbox(shipped)).toEqual(publish);
  expect(encodeOutbox(publish)).toEqual(shipped);
});

test('an outbox of another format, and a truncated one, is rejected', () => {
  const record = { key: 'k', value: Buffer.from('value'), headers: { traceparent: '00-1' } };
  const outbox = encodeOutbox([{ topic: 'events', records: [record] }]);
  const foreign = Buffer.from(outbox);
  foreign[0] = 3;
  expect(() => decodeOutbox(foreign)).toThrow('format 3');
  for (let length = 2; length < outbox.length; length++)
    expect(() => decodeOutbox(outbox.subarray(0, length))).toThrow();
});
