/**
 * Returns a 32-bit FNV-1a hash of the UTF-16 code units, low byte first. It is the same on every machine and version.
 */
export function stableHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    hash = Math.imul(hash ^ (unit & 0xff), 0x01000193);
    hash = Math.imul(hash ^ (unit >>> 8), 0x01000193);
  }
  // FNV's low bits depend too much on the last characters for a small modulus, so the high bits are mixed in.
  return (hash ^ (hash >>> 15)) >>> 0;
}

/** Returns the partition of the key, 0 to `partitions - 1`. */
export const partitionOfKey = (key: string, partitions: number): number =>
  partitions === 1 ? 0 : stableHash(key) % partitions;
