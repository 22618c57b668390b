import fc from 'fast-check';
import { expect, test } from 'vitest';
import { codecs, createCodec, locationType } from '../../../schemas/codecs.js';
import { propertyRuns } from '../../../schemas/testing/property-runs.js';
import * as arbitrary from '../../../schemas/testing/records.js';
import { Slab } from '../../records/slab.js';
import { createOutcomeEncoder } from './outcome.js';

test('a copied location with an encoded tail equals the plain encoding, in any chunk of a slab', () => {
  const encodeOutcome = createOutcomeEncoder(codecs);
  const slab = new Slab();
  fc.assert(
    fc.property(arbitrary.outcome, ({ location, ...tail }) => {
      const frame = codecs.location.encode(location);
      expect(slab.encode(encodeOutcome, { location, frame, tail })).toEqual(
        codecs.outcome.encode({ location, ...tail }),
      );
    }),
    { numRuns: propertyRuns(500) },
  );
});

test('a location with another schema id is encoded again', () => {
  const encodeOutcome = createOutcomeEncoder(codecs);
  const older = createCodec(locationType, 77);
  fc.assert(
    fc.property(arbitrary.outcome, ({ location, ...tail }) => {
      const encoded = new Slab().encode(encodeOutcome, { location, frame: older.encode(location as never), tail });
      expect(encoded).toEqual(codecs.outcome.encode({ location, ...tail }));
    }),
  );
});

test('a slab fits values of any size and never changes earlier values', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 400_000 }), { maxLength: 12 }), (lengths) => {
      const slab = new Slab();
      const write = (value: Buffer, target: Buffer, position: number): number =>
        position + value.length <= target.length ? position + value.copy(target, position) : -1;
      const values = lengths.map((length, index) => Buffer.alloc(length, index + 1));
      const given = values.map((value) => slab.encode(write, value));
      given.forEach((buffer, index) => {
        expect(buffer.equals(values[index] as Buffer)).toBe(true);
      });
    }),
    { numRuns: propertyRuns(30) },
  );
});
