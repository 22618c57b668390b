/**
 * Encrypts secrets that must be used in plain text later, such as the signing secrets of webhooks. Neither topic
 * `changes` nor a backup of the data reveals them. AES-256-GCM (NIST SP 800-38D) with a random nonce.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Encrypts and decrypts with the encryption key of the installation. */
export interface SecretCipher {
  /**
   * Returns nonce, ciphertext and tag as base64. `owner` is an id: the result cannot be decrypted for another owner.
   */
  encrypt(secret: string, owner: string): string;
  /** Returns undefined if the text was encrypted with another key or for another owner, or was changed. */
  decrypt(encrypted: string, owner: string): string | undefined;
}

/** Length of a key of AES-256. */
export const encryptionKeyBytes = 32;
const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** Creates a cipher with a key of {@link encryptionKeyBytes}. Throws on a key of another length. */
export function createSecretCipher(key: Uint8Array): SecretCipher {
  if (key.length !== encryptionKeyBytes)
    throw new Error(`the encryption key has ${key.length} bytes; it must have ${encryptionKeyBytes}`);
  return {
    encrypt(secret, owner) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(owner));
      return Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString(
        'base64',
      );
    },
    decrypt(encrypted, owner) {
      const bytes = Buffer.from(encrypted, 'base64');
      if (bytes.length < nonceBytes + tagBytes) return undefined;
      const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
      decipher.setAAD(Buffer.from(owner)).setAuthTag(bytes.subarray(-tagBytes));
      const secret = decipher.update(bytes.subarray(nonceBytes, -tagBytes));
      try {
        return Buffer.concat([secret, decipher.final()]).toString();
      } catch {
        return undefined;
      }
    },
  };
}
