import fc from 'fast-check';
import { expect, test } from 'vitest';
import { packStrings, unpackStrings } from './packed-strings.js';

const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.json(), fc.constantFrom('\n', ' ', '1 2\n'));

test('texts come out as they went in, also by way of UTF-8', () => {
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 8 }), (texts) => {
      const parcel = packStrings(texts);
      expect(parcel).not.toBe('');
      expect(unpackStrings(Buffer.from(parcel).toString())).toEqual(texts);
    }),
  );
});

test('anything else is some texts', () => {
  fc.assert(
    fc.property(text, (anything) => {
      expect(unpackStrings(anything).every((each) => anything.includes(each))).toBe(true);
    }),
  );
});
