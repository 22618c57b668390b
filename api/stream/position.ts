/**
 * Encodes a position in a topic, the offset of the next record of every partition, as short text.
 *
 * The ids of streams and `next` of the topics API are such texts. Layout: a version byte, then an offset per partition
 * as an unsigned LEB128 varint, all in base64url. Every text begins with `A`, so that it can't be confused with an
 * offset.
 */

/** Offset of the next record of each partition. */
export type Position = readonly number[];

const version = 1;
const maxTextLength = 16_384;
const payloadBits = 0x80;

/** Returns a position as the short text that `Last-Event-ID` and cursors carry. */
export function encodePosition(position: Position): string {
  const bytes = [version];
  for (const offset of position) {
    let rest = offset;
    // Offsets have up to 53 bits, bitwise shifts 32.
    while (rest >= payloadBits) {
      bytes.push((rest % payloadBits) | payloadBits);
      rest = Math.floor(rest / payloadBits);
    }
    bytes.push(rest);
  }
  return Buffer.from(bytes).toString('base64url');
}

/** Parses a position; undefined for any text that {@link encodePosition} does not produce for this many partitions. */
export function parsePosition(text: string, partitions: number): Position | undefined {
  if (text.length > maxTextLength) return undefined;
  const offsets: number[] = [];
  let offset = 0;
  let unit = 1;
  for (const byte of Buffer.from(text, 'base64url').subarray(1)) {
    offset += (byte % payloadBits) * unit;
    unit *= payloadBits;
    if (byte >= payloadBits) continue;
    offsets.push(offset);
    offset = 0;
    unit = 1;
  }
  const isValid =
    offsets.length === partitions && offsets.every(Number.isSafeInteger) && encodePosition(offsets) === text;
  return isValid ? offsets : undefined;
}
