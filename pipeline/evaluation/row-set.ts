/** A set of small integers, one bit each. Unlike a `Set` it stays in the processor's cache and allocates nothing. */
export class RowSet {
  #bits = new Int32Array(1_024);
  readonly #rows: number[] = [];

  /** Adds a row that the set does not have. */
  add(row: number): void {
    if (row >> 5 >= this.#bits.length) this.#growTo(row);
    this.#bits[row >> 5]! |= 1 << row;
    this.#rows.push(row);
  }

  /** Returns whether the set has the row. */
  has(row: number): boolean {
    return row >> 5 < this.#bits.length && (this.#bits[row >> 5]! & (1 << row)) !== 0;
  }

  /** Takes as long as the set is large. */
  clear(): void {
    while (this.#rows.length > 0) this.#bits[this.#rows.pop()! >> 5] = 0;
  }

  #growTo(row: number): void {
    const larger = new Int32Array(Math.max((row >> 5) + 1, 2 * this.#bits.length));
    larger.set(this.#bits);
    this.#bits = larger;
  }
}
