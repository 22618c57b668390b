/** Reads the size from the first bytes of a PNG. Pure. */

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Returns whether bytes begin like a PNG. */
export const isPng = (bytes: Uint8Array): boolean => signature.equals(bytes.subarray(0, signature.length));

/** Returns the size in pixels, or undefined when the bytes are not a PNG or are too few. */
export function pngSize(bytes: Uint8Array): { readonly width: number; readonly height: number } | undefined {
  if (!isPng(bytes) || bytes.length < 24) return undefined;
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return { width: header.readUInt32BE(16), height: header.readUInt32BE(20) };
}
