/**
 * The key that encrypts the secrets of webhooks and syncs. It is created on the first start and readable only by the
 * owner. A backup without it can't sign deliveries.
 *
 * Its fingerprint is stored beside it: a node never continues with another key than the one that its secrets need.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { hasLog } from '../../backends/embedded/reader.js';
import { encryptionKeyBytes } from '../../pipeline/encryption.js';
import { sha256Hex } from '../../schemas/sha256.js';
import { StartError } from '../failures.js';
import { readKeyFile, writeKeyFile } from './key-file.js';

/** Its file in the data folder. */
export const encryptionKeyFile = 'encryption-key';
const fingerprintFile = 'encryption-key.sha256';
const variable = 'FENCELINE_ENCRYPTION_KEY';

/**
 * Returns the key from FENCELINE_ENCRYPTION_KEY, as hex digits, else from the folder. Creates it if the folder has
 * neither a log nor a fingerprint. Throws a StartError if it is malformed, missing, or not the one that the folder was
 * used with.
 */
export function encryptionKey(folder: string, given: string | undefined = process.env[variable]): Buffer {
  const expected = storedFingerprint(folder);
  const isNew = expected === undefined && !hasLog(folder);
  const key = presentKey(folder, given) ?? (isNew ? createdKey(folder) : undefined);
  if (key === undefined || (expected !== undefined && encryptionKeyFingerprint(key) !== expected))
    throw new StartError(
      `the encryption key of the data folder ${folder} is ${key === undefined ? 'missing' : 'another one'}: ` +
        `restore its file ${encryptionKeyFile}, or set ${variable}. If the key is lost, delete ${fingerprintFile}, ` +
        `write a new key into ${encryptionKeyFile} (openssl rand -hex ${encryptionKeyBytes}), ` +
        'set the secrets of webhooks and syncs again, and request failed erasures again',
    );
  if (expected === undefined) storeFingerprint(folder, key);
  return key;
}

/** Returns the key from FENCELINE_ENCRYPTION_KEY, else from the folder; undefined if there is none. Creates no key. */
export function presentKey(folder: string, given: string | undefined = process.env[variable]): Buffer | undefined {
  if (given) return encryptionKeyOf(given);
  const path = join(folder, encryptionKeyFile);
  const digits = readKeyFile(path);
  return digits === undefined ? undefined : encryptionKeyOf(digits, path);
}

function createdKey(folder: string): Buffer {
  const key = randomBytes(encryptionKeyBytes);
  writeKeyFile(join(folder, encryptionKeyFile), key.toString('hex'));
  return key;
}

const storedFingerprint = (folder: string): string | undefined => readKeyFile(join(folder, fingerprintFile));

/** Stores the fingerprint of the key. From now on a node starts on the folder only with this key. */
export const storeFingerprint = (folder: string, key: Buffer): void =>
  writeKeyFile(join(folder, fingerprintFile), encryptionKeyFingerprint(key));

/** Returns the fingerprint of the key that the folder needs; null if it is unknown. Creates no key. */
export function knownFingerprint(folder: string): string | null {
  const stored = storedFingerprint(folder);
  if (stored !== undefined) return stored;
  const key = presentKey(folder);
  return key === undefined ? null : encryptionKeyFingerprint(key);
}

/** Decodes hex digits. Throws a StartError that names their source if there are too few, too many or others. */
export function encryptionKeyOf(digits: string, source = variable): Buffer {
  if (!/^[0-9a-f]+$/i.test(digits) || digits.length !== 2 * encryptionKeyBytes)
    throw new StartError(`the encryption key in ${source} must be ${2 * encryptionKeyBytes} hex digits`);
  return Buffer.from(digits, 'hex');
}

/** Returns the SHA-256 of an encryption key, 64 hex digits. It tells keys apart and reveals nothing of a random key. */
export const encryptionKeyFingerprint = (key: Buffer): string => sha256Hex(key);
