/** Maps keys to partitions by murmur2, like the Java client and its ports. Pure. */

const seed = 0x9747b28c;
const multiplier = 0x5bd1e995;

let scratch = Buffer.alloc(1_024);

/** Writes the key to `scratch` and returns its length in bytes. A UTF-16 unit takes at most three bytes. */
function encode(key: string): number {
  if (key.length * 3 > scratch.length) scratch = Buffer.alloc(key.length * 6);
  return scratch.write(key);
}

/** Returns MurmurHash2 of the key as UTF-8, a signed 32-bit number. */
export function murmur2(key: string): number {
  const length = encode(key);
  const bytes = scratch;
  let hash = seed ^ length;
  let at = 0;
  for (; at + 4 <= length; at += 4) {
    let word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    word = Math.imul(word, multiplier);
    word = Math.imul(word ^ (word >>> 24), multiplier);
    hash = Math.imul(hash, multiplier) ^ word;
  }
  if (at < length) {
    for (let i = length - 1; i >= at; i--) hash ^= bytes[i]! << (8 * (i - at));
    hash = Math.imul(hash, multiplier);
  }
  hash = Math.imul(hash ^ (hash >>> 13), multiplier);
  return hash ^ (hash >>> 15);
}

/** Returns the partition, 0 to `partitions - 1`. */
export const partitionOfKey = (key: string, partitions: number): number =>
  partitions === 1 ? 0 : (murmur2(key) & 0x7fff_ffff) % partitions;
