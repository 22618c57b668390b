/**
 * Encodes many small values into few large buffers, because thousands of small buffers cost more than the encoding.
 *
 * The first buffer is small, and each further one is four times as large. V8 counts the memory of buffers: with large
 * ones for single values it collects the whole heap several times a second.
 */

const firstChunkBytes = 2 * 1024;
const maxChunkBytes = 256 * 1024;
const growth = 4;

/** Writes a value into `target` at `position`. Returns the position after it, or -1 if it does not fit. */
export type EncodeInto<T> = (value: T, target: Buffer, position: number) => number;

/** Returns slices of chunks. A slice never changes, because a chunk is written only once. */
export class Slab {
  #chunk = Buffer.alloc(0);
  #position = 0;
  #nextBytes = firstChunkBytes;

  /** Returns the encoded value as a part of a shared buffer, which stays in memory as long as any of its parts. */
  encode<T>(encodeInto: EncodeInto<T>, value: T): Buffer {
    let end = encodeInto(value, this.#chunk, this.#position);
    for (let bytes = this.#nextBytes; end < 0; bytes *= 2) {
      this.#chunk = Buffer.allocUnsafeSlow(bytes);
      this.#nextBytes = Math.min(growth * bytes, maxChunkBytes);
      this.#position = 0;
      end = encodeInto(value, this.#chunk, 0);
    }
    const encoded = this.#chunk.subarray(this.#position, end);
    this.#position = end;
    return encoded;
  }
}
