/** Converts between pixels as bytes and as words. A word is red, green, blue and opacity in the order of bytes. */

/** Returns the same memory as words. */
export const wordsOf = ({ buffer, byteOffset, length }: Uint8Array | Uint8ClampedArray): Uint32Array =>
  new Uint32Array(buffer, byteOffset, length / 4);

/** Returns the same memory as bytes. */
export const bytesOf = ({ buffer, byteOffset, byteLength }: Uint32Array): Uint8ClampedArray =>
  new Uint8ClampedArray(buffer, byteOffset, byteLength);
