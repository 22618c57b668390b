/**
 * Collects the first bytes of a body by copying. Chunks are views of larger buffers, and many tiny chunks must not cost
 * more memory than their bytes.
 */
const none = Buffer.alloc(0);

/** The first `maxBytes` of one body. */
export class BoundedBody {
  readonly #maxBytes: number;
  #bytes: Buffer = none;
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Keeps as much of the chunk as fits. Returns false if it did not fit. */
  add(chunk: Buffer): boolean {
    const length = Math.min(this.#length + chunk.length, this.#maxBytes);
    this.#grow(length);
    chunk.copy(this.#bytes, this.#length, 0, length - this.#length);
    const fits = length - this.#length === chunk.length;
    this.#length = length;
    return fits;
  }

  /** Returns what was kept so far. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Grows the buffer at least twofold, so that each byte is copied twice on average. */
  #grow(length: number): void {
    if (length <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.min(Math.max(length, 2 * this.#bytes.length), this.#maxBytes));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
