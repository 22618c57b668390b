/**
 * Recognises ids that a file has named already. A file may have millions of rows, so an id takes 12 bytes of an open
 * table of numbers, which is at most 70 % full: 17 to 34 bytes a row.
 */

const initialSlots = 2 ** 12;
const maxLoad = 0.7;
const wordsPerSlot = 3;

/** Keeps 64 of the 96 bits of each id: among a million rows two share them by chance once in 40 million files. */
export class SeenIds {
  #slots = initialSlots;
  #table = new Uint32Array(initialSlots * wordsPerSlot);
  #size = 0;

  /** Notes the line of an id of 24 hex digits. Returns the line that had it before, or undefined. */
  add(id: string, line: number): number | undefined {
    const high = Number.parseInt(id.slice(0, 8), 16);
    const low = Number.parseInt(id.slice(8, 16), 16);
    const at = this.#find(this.#table, this.#slots, high, low);
    if (this.#table[at + 2] !== 0) return this.#table[at + 2];
    this.#table.set([high, low, line], at);
    this.#size += 1;
    if (this.#size > maxLoad * this.#slots) this.#grow();
    return undefined;
  }

  /** Returns the place of the id, or the free place for it. A line is never 0. */
  #find(table: Uint32Array, slots: number, high: number, low: number): number {
    for (let slot = low % slots; ; slot = (slot + 1) % slots) {
      const at = slot * wordsPerSlot;
      if (table[at + 2] === 0 || (table[at] === high && table[at + 1] === low)) return at;
    }
  }

  #grow(): void {
    const slots = this.#slots * 2;
    const table = new Uint32Array(slots * wordsPerSlot);
    for (let from = 0; from < this.#table.length; from += wordsPerSlot) {
      const [high, low, line] = this.#table.subarray(from, from + wordsPerSlot) as unknown as [number, number, number];
      if (line !== 0) table.set([high, low, line], this.#find(table, slots, high, low));
    }
    this.#slots = slots;
    this.#table = table;
  }
}
