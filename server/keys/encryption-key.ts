/** The installation's key for sealed secrets: made on the first start, readable by the folder's owner only. A backup without it can't sign. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sealingKeyBytes } from '../../pipeline/encryption.js';

const sealingKeyFile = 'sealing-key';

/** The key given as hex digits by FENCELINE_SEALING_KEY, else the folder's, which is made when there is none. Throws on one of another length. */
export function sealingKey(folder: string, given: string | undefined = process.env.FENCELINE_SEALING_KEY): Buffer {
  const path = join(folder, sealingKeyFile);
  if (!given && !existsSync(path))
    writeFileSync(path, `${randomBytes(sealingKeyBytes).toString('hex')}\n`, { mode: 0o600 });
  return sealingKeyOf(given || readFileSync(path, 'utf8').trim());
}

/** From hex digits. Throws when they aren't of the right length. */
export function sealingKeyOf(digits: string): Buffer {
  if (!/^[0-9a-f]+$/i.test(digits) || digits.length !== 2 * sealingKeyBytes) {
    throw new Error(`the sealing key must be ${2 * sealingKeyBytes} hex digits`);
  }
  return Buffer.from(digits, 'hex');
}
