/** Replaces bytes that are not UTF-8 by a mark, so that only their rows are lost. */
import { isUtf8 } from 'node:buffer';
import { BrokenSource, brokenByte } from '../source.js';

const mark = Buffer.from(brokenByte);

/** Returns the length of the valid sequence at a position; 0: broken; -1: the end of the bytes cuts it off. */
function sequenceAt(bytes: Uint8Array, at: number): number {
  const first = bytes[at]!;
  if (first < 0x80) return 1;
  const length = first >= 0xc2 && first <= 0xdf ? 2 : first >> 4 === 0xe ? 3 : first >= 0xf0 && first <= 0xf4 ? 4 : 0;
  if (length === 0) return 0;
  for (let next = 1; next < length; next++) {
    if (at + next === bytes.length) return -1;
    if (bytes[at + next]! >> 6 !== 0b10) return 0;
  }
  return isUtf8(bytes.subarray(at, at + length)) ? length : 0;
}

/** Returns how many bytes at the end begin a sequence that the next chunk may complete. */
function cutOff(bytes: Uint8Array): number {
  for (let at = Math.max(0, bytes.length - 3); at < bytes.length; at++) {
    if (bytes[at]! >= 0xc0 && sequenceAt(bytes, at) === -1) return bytes.length - at;
  }
  return 0;
}

function repaired(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  let validFrom = 0;
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceAt(bytes, at);
    if (length > 0) {
      at += length;
      continue;
    }
    parts.push(bytes.subarray(validFrom, at), mark);
    at += 1;
    validFrom = at;
  }
  return Buffer.concat([...parts, bytes.subarray(validFrom)]);
}

/** Refuses files that begin with a mark of UTF-16, as spreadsheets write them on request. */
function refuseUtf16([first, second]: Uint8Array): void {
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  if (isUtf16) throw new BrokenSource(1, { column: 'file', rule: 'is UTF-16; save it as UTF-8' });
}

/** Yields valid UTF-8. Sequences are never split between two chunks. Refuses UTF-16. */
export async function* utf8Chunks(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  let isFirst = true;
  for await (const chunk of source) {
    const bytes = Buffer.concat([rest, chunk]);
    if (isFirst && bytes.length < 2) {
      rest = bytes;
      continue;
    }
    if (isFirst) refuseUtf16(bytes);
    isFirst = false;
    const held = cutOff(bytes);
    const whole = bytes.subarray(0, bytes.length - held);
    rest = bytes.subarray(bytes.length - held);
    if (whole.length > 0) yield isUtf8(whole) ? whole : repaired(whole);
  }
  if (rest.length > 0) yield isUtf8(rest) ? rest : repaired(rest);
}

/** Yields the chunks and counts their bytes. */
export async function* counted(
  source: AsyncIterable<Uint8Array>,
  count: { bytes: number },
): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    count.bytes += chunk.length;
    yield chunk;
  }
}
