/**
 * The first bytes of a body, copied together: pieces are views of larger buffers, and a body of many tiny pieces must
 * not cost more than its bytes.
 */
const none = Buffer.alloc(0);

export class BoundedBody {
  readonly #maxBytes: number;
  #bytes: Buffer = none;
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Keeps as much of the piece as there is room for. False: there was not enough. */
  add(piece: Buffer): boolean {
    const length = Math.min(this.#length + piece.length, this.#maxBytes);
    this.#makeRoom(length);
    piece.copy(this.#bytes, this.#length, 0, length - this.#length);
    const fits = length - this.#length === piece.length;
    this.#length = length;
    return fits;
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Room at least doubles, so that each byte is copied twice on average, whatever the pieces. */
  #makeRoom(length: number): void {
    if (length <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.min(Math.max(length, 2 * this.#bytes.length), this.#maxBytes));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
