import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BoundedBody } from './body.js';

test('keeps the first bytes of all chunks and returns whether each chunk fits', () => {
  const pieces = fc.array(
    fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(pieces, fc.integer({ min: 0, max: 200 }), (given, maxBytes) => {
      const body = new BoundedBody(maxBytes);
      let cameBytes = 0;
      for (const piece of given) {
        cameBytes += piece.length;
        expect(body.add(piece)).toBe(piece.length === 0 || cameBytes <= maxBytes);
      }
      expect(body.bytes).toEqual(Buffer.concat(given).subarray(0, maxBytes));
    }),
  );
});
