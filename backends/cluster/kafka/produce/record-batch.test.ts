import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyCharacter } from '../../../../testing/any-character.js';
import { decodeBatch } from '../connection/kafkajs-internals.js';
import { crc32c } from './crc32c.js';
import { encodeBatch, maxBytesOf } from './record-batch.js';

const keys = fc.string({ unit: anyCharacter, maxLength: 200 });
const values = fc.option(fc.uint8Array({ maxLength: 9_000 }).map((bytes) => Buffer.from(bytes)));
const texts = fc.string({ unit: anyCharacter, maxLength: 100 });
// kafkajs mistakes inherited property names for repeated headers.
const names = texts.filter((name) => !(name in {}));
const headers = fc
  .uniqueArray(fc.tuple(names, texts), { selector: ([name]) => name, maxLength: 5 })
  .map(Object.fromEntries);

describe('batch of records', () => {
  test('kafkajs decodes the encoded records, and the checksum is correct', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ key: keys, value: values, headers }, { requiredKeys: ['key', 'value'] }), {
          minLength: 1,
          maxLength: 200,
        }),
        fc.bigInt({ min: 0n, max: 2n ** 62n }),
        fc.nat(32_767),
        fc.nat(2 ** 31 - 1),
        async (records, producerId, producerEpoch, firstSequence) => {
          const sequence = { producerId: `${producerId}`, producerEpoch, firstSequence };
          const bytes = encodeBatch(records, sequence, 1_700_000_000_123);
          expect(bytes.readUInt32BE(17)).toBe(crc32c(bytes, 21, bytes.length));
          const batch = await decodeBatch(bytes);
          expect(batch).toMatchObject({
            ...sequence,
            firstOffset: '0',
            lastOffsetDelta: records.length - 1,
            firstTimestamp: '1700000000123',
            maxTimestamp: '1700000000123',
            inTransaction: false,
            isControlBatch: false,
          });
          const decoded = batch.records.map(({ key, value, headers = {} }) => ({
            key: key?.toString(),
            value,
            headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, `${text}`])),
          }));
          expect(decoded).toEqual(records.map(({ headers = {}, ...record }) => ({ ...record, headers })));
          expect(batch.records.map((each) => each.offset)).toEqual(records.map((_, i) => `${i}`));
          expect(bytes.length).toBeLessThanOrEqual(records.reduce((sum, record) => sum + maxBytesOf(record), 61));
        },
      ),
    ));
});
