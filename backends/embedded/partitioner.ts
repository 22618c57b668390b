/**
 * A stable 32-bit hash of a text (FNV-1a over its UTF-16 code units, low byte then high byte). The same on every
 * machine and version.
 */
export function stableHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    hash = Math.imul(hash ^ (unit & 0xff), 0x01000193);
    hash = Math.imul(hash ^ (unit >>> 8), 0x01000193);
  }
  // FNV's low bits follow the last characters too closely for a small modulus: mix the high ones in.
  return (hash ^ (hash >>> 15)) >>> 0;
}

/** The partition, 0 to `partitions - 1`, that records with this key go to. */
export const partitionOfKey = (key: string, partitions: number): number =>
  partitions === 1 ? 0 : stableHash(key) % partitions;
