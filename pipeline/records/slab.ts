/** Encodes many small values into few large buffers: thousands of small ones cost more than the encoding itself. */

const chunkBytes = 256 * 1024;

/** Writes a value into `target` at `position`; returns the position after it, or -1 when there was no room. */
export type EncodeInto<T> = (value: T, target: Buffer, position: number) => number;

/** The buffers it returns are views that never change: a chunk is written once and left to its readers. */
export class Slab {
  #chunk = Buffer.alloc(0);
  #position = 0;

  encode<T>(encodeInto: EncodeInto<T>, value: T): Buffer {
    let end = encodeInto(value, this.#chunk, this.#position);
    for (let bytes = chunkBytes; end < 0; bytes *= 2) {
      this.#chunk = Buffer.allocUnsafeSlow(bytes);
      this.#position = 0;
      end = encodeInto(value, this.#chunk, 0);
    }
    const encoded = this.#chunk.subarray(this.#position, end);
    this.#position = end;
    return encoded;
  }
}
