/** A first-in, first-out queue with constant-time operations. */
export class Fifo<T> {
  #items: T[] = [];
  #head = 0;

  /** Returns the number of items. */
  get size(): number {
    return this.#items.length - this.#head;
  }

  /** Adds an item at the end. */
  push(item: T): void {
    this.#items.push(item);
  }

  /** Removes and returns the first item; undefined if there is none. */
  shift(): T | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items[this.#head];
    this.#head += 1;
    // Copying when half the array is consumed moves each item once on average.
    if (this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}
