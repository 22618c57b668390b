/** LMDB keys. They are binary and big-endian, so that they sort like the numbers in them. */

/** Limit of keys that contain text. LMDB's limit with pages of 4 kB is 1,978 bytes. */
export const maxKeyBytes = 1_900;

/** Returns the key `[partition u16]`: the entry of a partition, which sorts before all keys that begin with it. */
export function partitionKey(partition: number): Buffer {
  const key = Buffer.allocUnsafe(2);
  key.writeUInt16BE(partition, 0);
  return key;
}

/** Returns the key `[partition u16][offset u64]`. Offsets are safe integers, so their upper half has 21 bits. */
export function offsetKey(partition: number, offset: number): Buffer {
  const key = Buffer.allocUnsafe(10);
  key.writeUInt16BE(partition, 0);
  key.writeUInt32BE(Math.floor(offset / 0x1_0000_0000), 2);
  key.writeUInt32BE(offset % 0x1_0000_0000, 6);
  return key;
}

/** Returns the offset in a key of a topic's records. */
export const offsetOfKey = (key: Buffer): number => key.readUInt32BE(2) * 0x1_0000_0000 + key.readUInt32BE(6);

/** Encodes a number as an LMDB value. */
export function numberValue(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeDoubleBE(value, 0);
  return bytes;
}

/** Decodes a number that {@link numberValue} has encoded. */
export const numberOf = (value: Buffer | undefined): number | undefined => value?.readDoubleBE(0);

/**
 * Returns the mark of a position (`pipeline/positions.ts`) after the first `bytes` bytes of a value; null in values of
 * versions without marks.
 */
export const markAfter = (value: Buffer | undefined, bytes: number): string | null =>
  value === undefined || value.length <= bytes ? null : value.toString('utf8', bytes);
