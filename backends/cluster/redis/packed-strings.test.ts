import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCharacter } from '../../../testing/any-character.js';
import { packStrings, unpackStrings } from './packed-strings.js';

const text = fc.oneof(fc.string(), fc.string({ unit: anyCharacter }), fc.json(), fc.constantFrom('\n', ' ', '1 2\n'));

test('unpacks what was packed, also through UTF-8', () => {
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 8 }), (texts) => {
      const packed = packStrings(texts);
      expect(packed).not.toBe('');
      expect(unpackStrings(Buffer.from(packed).toString())).toEqual(texts);
    }),
  );
});

test('unpacks other input to arbitrary texts', () => {
  fc.assert(
    fc.property(text, (anything) => {
      expect(unpackStrings(anything).every((each) => anything.includes(each))).toBe(true);
    }),
  );
});
