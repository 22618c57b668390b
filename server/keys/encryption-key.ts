/**
 * The key that encrypts the secrets of webhooks. It is created on the first start and readable only by the owner. A
 * backup without it can't sign deliveries.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encryptionKeyBytes } from '../../pipeline/encryption.js';

export const encryptionKeyFile = 'encryption-key';

/**
 * Returns the key from FENCELINE_ENCRYPTION_KEY, as hex digits, else from the folder. Creates it if there is none.
 * Throws if it has the wrong length.
 */
export function encryptionKey(
  folder: string,
  given: string | undefined = process.env.FENCELINE_ENCRYPTION_KEY,
): Buffer {
  const path = join(folder, encryptionKeyFile);
  if (!given && !existsSync(path))
    writeFileSync(path, `${randomBytes(encryptionKeyBytes).toString('hex')}\n`, { mode: 0o600 });
  return encryptionKeyOf(given || readFileSync(path, 'utf8').trim());
}

/** Returns the key as {@link encryptionKey}, but creates none. */
export const presentEncryptionKey = (folder: string): Buffer | undefined =>
  process.env.FENCELINE_ENCRYPTION_KEY || existsSync(join(folder, encryptionKeyFile))
    ? encryptionKey(folder)
    : undefined;

/** Decodes hex digits. Throws if the length is wrong. */
export function encryptionKeyOf(digits: string): Buffer {
  if (!/^[0-9a-f]+$/i.test(digits) || digits.length !== 2 * encryptionKeyBytes) {
    throw new Error(`the encryption key must be ${2 * encryptionKeyBytes} hex digits`);
  }
  return Buffer.from(digits, 'hex');
}
