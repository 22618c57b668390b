import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { crc32c } from './crc32c.js';

/** Computes the checksum bit by bit from the polynomial. */
function slowly(bytes: Uint8Array): number {
  let crc = 0xffff_ffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  }
  return ~crc >>> 0;
}

describe('crc32c', () => {
  // RFC 3720, B.4.
  test.each([
    [Buffer.from('123456789'), 0xe3069283],
    [Buffer.alloc(32), 0x8a9136aa],
    [Buffer.alloc(32, 0xff), 0x62a8ab43],
    [Buffer.from(Array.from({ length: 32 }, (_, i) => i)), 0x46dd794e],
  ])('known values (%#)', (bytes, checksum) => {
    expect(crc32c(bytes, 0, bytes.length)).toBe(checksum);
  });

  test('equals the bitwise computation for any range of bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(100), fc.nat(100), (bytes, from, to) => {
        const [start, end] = [Math.min(from, to, bytes.length), Math.min(Math.max(from, to), bytes.length)];
        expect(crc32c(bytes, start, end)).toBe(slowly(bytes.subarray(start, end)));
      }),
    );
  });
});
