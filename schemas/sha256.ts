import { createHash } from 'node:crypto';

/** Returns the SHA-256 of the bytes, or of the text in UTF-8, as 64 hex digits. */
export const sha256Hex = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');
