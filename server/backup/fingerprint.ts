import { createHash } from 'node:crypto';

/** Returns the SHA-256 of an encryption key, 64 hex digits. It tells keys apart and reveals nothing of a random key. */
export const encryptionKeyFingerprint = (key: Buffer): string => createHash('sha256').update(key).digest('hex');
