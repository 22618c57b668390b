/**
 * CRC-32C (Castagnoli), the checksum of Kafka's record batches. It handles eight bytes per step with eight tables,
 * three times as fast as with one. Pure.
 */

const polynomial = 0x82f63b78;

/** 256 entries per table: the effect of a byte that is followed by 0 to 7 bytes. */
const tables = new Int32Array(8 * 256);
for (let byte = 0; byte < 256; byte++) {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ polynomial : crc >>> 1;
  tables[byte] = crc;
}
for (let at = 256; at < tables.length; at++) tables[at] = (tables[at - 256]! >>> 8) ^ tables[tables[at - 256]! & 0xff]!;

/** Returns the unsigned checksum of the bytes from `start` up to, but not including, `end`. */
export function crc32c(bytes: Uint8Array, start: number, end: number): number {
  let crc = -1;
  let at = start;
  for (; at + 8 <= end; at += 8) {
    crc ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    crc =
      tables[1792 + (crc & 0xff)]! ^
      tables[1536 + ((crc >>> 8) & 0xff)]! ^
      tables[1280 + ((crc >>> 16) & 0xff)]! ^
      tables[1024 + (crc >>> 24)]! ^
      tables[768 + bytes[at + 4]!]! ^
      tables[512 + bytes[at + 5]!]! ^
      tables[256 + bytes[at + 6]!]! ^
      tables[bytes[at + 7]!]!;
  }
  for (; at < end; at++) crc = (crc >>> 8) ^ tables[(crc ^ bytes[at]!) & 0xff]!;
  return ~crc >>> 0;
}
