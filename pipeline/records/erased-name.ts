/** The name of what an erasure erases, which is encrypted. */
import type { ErasureRecord } from '../../schemas/json/erasure.js';
import type { SecretCipher } from '../encryption.js';

type Cipher = Pick<SecretCipher, 'decrypt'>;

/** Returns the name; undefined if it was encrypted with another encryption key. */
export const erasedName = ({ _id, target }: ErasureRecord, cipher: Cipher): string | undefined =>
  cipher.decrypt(target, _id);

/**
 * Returns whether an erasure can't go on: it is not complete, and the encryption key of its name is lost. That of a
 * project needs no name.
 */
export const hasFailed = (record: ErasureRecord, cipher: Cipher): boolean =>
  record.completedAt === null && record.subject !== 'project' && erasedName(record, cipher) === undefined;
