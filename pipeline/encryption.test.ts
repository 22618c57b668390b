import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSecretCipher } from './encryption.js';

const secretCipher = createSecretCipher(randomBytes(32));
const text = fc.string({ unit: 'grapheme', maxLength: 80 });

test('decrypts a secret only for its owner and with its key', () => {
  const other = createSecretCipher(randomBytes(32));
  fc.assert(
    fc.property(text, text, text, (secret, owner, stranger) => {
      const encrypted = secretCipher.encrypt(secret, owner);
      expect(secretCipher.decrypt(encrypted, owner)).toBe(secret);
      expect(secretCipher.encrypt(secret, owner)).not.toBe(encrypted);
      expect(other.decrypt(encrypted, owner)).toBeUndefined();
      if (stranger !== owner) expect(secretCipher.decrypt(encrypted, stranger)).toBeUndefined();
    }),
  );
});

test('rejects a changed byte at any position', () => {
  const encrypted = Buffer.from(secretCipher.encrypt('whsec_secret', 'owner'), 'base64');
  for (let index = 0; index < encrypted.length; index++) {
    const changed = Buffer.from(encrypted);
    changed[index] = (changed[index] as number) ^ 1;
    expect(secretCipher.decrypt(changed.toString('base64'), 'owner')).toBeUndefined();
  }
  for (const cut of [0, 5, 27])
    expect(secretCipher.decrypt(encrypted.subarray(0, cut).toString('base64'), 'owner')).toBeUndefined();
});

test('rejects a key of another length', () => {
  expect(() => createSecretCipher(randomBytes(16))).toThrow('16 bytes');
});
