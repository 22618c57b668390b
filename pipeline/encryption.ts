/**
 * Secrets that must be used and so can't be hashed, such as those that sign webhooks: sealed with the installation's
 * key, so that neither the changes topic nor a backup of the data tells them. AES-256-GCM (NIST SP 800-38D) with a
 * random nonce.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

export interface Sealer {
  /** `owner`, an id, is bound in: sealed text that is moved to another record doesn't open. */
  seal(secret: string, owner: string): string;
  /** Throws when the text was sealed with another key or for another owner, or was changed. */
  open(sealed: string, owner: string): string;
}

export const encryptionKeyBytes = 32;
const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** `key` has {@link encryptionKeyBytes}. */
export function createSealer(key: Uint8Array): Sealer {
  if (key.length !== encryptionKeyBytes)
    throw new Error(`a encryption key of ${key.length} bytes; it must have ${encryptionKeyBytes}`);
  return {
    seal(secret, owner) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(owner));
      return Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString(
        'base64',
      );
    },
    open(sealed, owner) {
      const bytes = Buffer.from(sealed, 'base64');
      if (bytes.length < nonceBytes + tagBytes) throw new Error('the sealed text is cut short');
      const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
      decipher.setAAD(Buffer.from(owner)).setAuthTag(bytes.subarray(-tagBytes));
      return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()]).toString();
    },
  };
}
