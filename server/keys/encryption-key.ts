/**
 * The installation's key for sealed secrets: made on the first start, readable by the folder's owner only. A backup
 * without it can't sign.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encryptionKeyBytes } from '../../pipeline/encryption.js';

const encryptionKeyFile = 'encryption-key';

/**
 * The key given as hex digits by FENCELINE_ENCRYPTION_KEY, else the folder's, which is made when there is none. Throws
 * on one of another length.
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

/** From hex digits. Throws when they aren't of the right length. */
export function encryptionKeyOf(digits: string): Buffer {
  if (!/^[0-9a-f]+$/i.test(digits) || digits.length !== 2 * encryptionKeyBytes) {
    throw new Error(`the encryption key must be ${2 * encryptionKeyBytes} hex digits`);
  }
  return Buffer.from(digits, 'hex');
}
