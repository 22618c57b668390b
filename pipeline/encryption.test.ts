import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSealer } from './encryption.js';

const sealer = createSealer(randomBytes(32));
const text = fc.string({ unit: 'grapheme', maxLength: 80 });

test('what was sealed for an owner opens for that owner only, with that key only', () => {
  const other = createSealer(randomBytes(32));
  fc.assert(
    fc.property(text, text, text, (secret, owner, stranger) => {
      const sealed = sealer.seal(secret, owner);
      expect(sealer.open(sealed, owner)).toBe(secret);
      expect(sealer.seal(secret, owner)).not.toBe(sealed);
      expect(() => other.open(sealed, owner)).toThrow();
      if (stranger !== owner) expect(() => sealer.open(sealed, stranger)).toThrow();
    }),
  );
});

test('a changed byte is noticed, wherever it is', () => {
  const sealed = Buffer.from(sealer.seal('whsec_secret', 'owner'), 'base64');
  for (let index = 0; index < sealed.length; index++) {
    const changed = Buffer.from(sealed);
    changed[index] = (changed[index] as number) ^ 1;
    expect(() => sealer.open(changed.toString('base64'), 'owner')).toThrow();
  }
  for (const cut of [0, 5, 27])
    expect(() => sealer.open(sealed.subarray(0, cut).toString('base64'), 'owner')).toThrow();
});

test('a key of another length is refused', () => {
  expect(() => createSealer(randomBytes(16))).toThrow('16 bytes');
});
