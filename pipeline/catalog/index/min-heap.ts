/** A binary heap: unlike a sort, it orders items in small steps, and only as many as are taken. */

/** Items of which the first, by `compare`, is taken next. */
export class MinHeap<Item> {
  readonly #items: Item[] = [];
  readonly #compare: (a: Item, b: Item) => number;

  constructor(compare: (a: Item, b: Item) => number) {
    this.#compare = compare;
  }

  /** Adds an item. */
  push(item: Item): void {
    const items = this.#items;
    let at = items.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#compare(items[parent]!, item) <= 0) break;
      items[at] = items[parent]!;
      at = parent;
    }
    items[at] = item;
  }

  /** Removes the first item, and returns it; undefined if there is none. */
  pop(): Item | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (items.length > 0) this.#sink(last!);
    return first;
  }

  /** Removes at most `count` items, and returns them in their order. */
  take(count: number): Item[] {
    const items: Item[] = [];
    while (items.length < count && this.#items.length > 0) items.push(this.pop()!);
    return items;
  }

  /** Puts an item in place of the first, and moves it down. */
  #sink(item: Item): void {
    const items = this.#items;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && this.#compare(items[child + 1]!, items[child]!) < 0) child++;
      if (this.#compare(item, items[child]!) <= 0) break;
      items[at] = items[child]!;
      at = child;
    }
    items[at] = item;
  }
}
