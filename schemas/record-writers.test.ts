/** Compares the bytes with those of the general library. */
import type avro from 'avsc';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeWith, type Write } from './avro-writer.js';
import { deviceStateType, eventType, locationType } from './codecs.js';
import { writeDeviceState, writeEvent, writeLocation } from './record-writers.js';
import { propertyRuns } from './testing/property-runs.js';
import * as arbitrary from './testing/records.js';

// Another test compares outcomes, whose location is copied.
const records: { name: string; type: avro.Type; values: fc.Arbitrary<unknown>; write: Write<never> }[] = [
  { name: 'location', type: locationType, values: arbitrary.location, write: writeLocation },
  { name: 'event', type: eventType, values: arbitrary.event, write: writeEvent },
  { name: 'device state', type: deviceStateType, values: arbitrary.deviceState, write: writeDeviceState },
];

describe.each(records)('the bytes of a $name', ({ type, values, write }) => {
  it('are those of the general library, or do not fit', () => {
    fc.assert(
      fc.property(values, fc.nat(9), fc.integer({ min: -20, max: 20 }), (value, position, spare) => {
        const expected = type.toBuffer(value);
        const target = Buffer.alloc(Math.max(0, position + expected.length + spare));
        const end = encodeWith(write as Write<unknown>)(value, target, position);
        expect(end).toBe(position + expected.length <= target.length ? position + expected.length : -1);
        if (end >= 0) expect(target.subarray(position, end).equals(expected)).toBe(true);
      }),
      { numRuns: propertyRuns(1_500) },
    );
  });
});
