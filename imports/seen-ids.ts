/**
 * Recognises ids that a file has named already. A file may have millions of rows, so an id takes 16 bytes of an open
 * table of numbers, which is at most 70 % full: 23 to 46 bytes a row.
 */

const initialSlots = 2 ** 12;
const maxLoad = 0.7;
/** The three words of an id, and its line. A line is never 0. */
const wordsPerSlot = 4;

/** The ids of a file, each with the first line that names it. */
export class SeenIds {
  #slots = initialSlots;
  #table = new Uint32Array(initialSlots * wordsPerSlot);
  #size = 0;

  /** Notes the line of an id of 24 hex digits. Returns the line that had it before, or undefined. */
  add(id: string, line: number): number | undefined {
    const first = Number.parseInt(id.slice(0, 8), 16);
    const second = Number.parseInt(id.slice(8, 16), 16);
    const third = Number.parseInt(id.slice(16), 16);
    const at = this.#find(this.#table, this.#slots, first, second, third);
    if (this.#table[at + 3] !== 0) return this.#table[at + 3];
    this.#table.set([first, second, third, line], at);
    this.#size += 1;
    if (this.#size > maxLoad * this.#slots) this.#grow();
    return undefined;
  }

  /** Returns the place of the id, or the free place for it. Only the third word differs between ids of one second. */
  #find(table: Uint32Array, slots: number, first: number, second: number, third: number): number {
    for (let slot = third % slots; ; slot = (slot + 1) % slots) {
      const at = slot * wordsPerSlot;
      if (table[at + 3] === 0) return at;
      if (table[at] === first && table[at + 1] === second && table[at + 2] === third) return at;
    }
  }

  #grow(): void {
    const slots = this.#slots * 2;
    const table = new Uint32Array(slots * wordsPerSlot);
    for (let from = 0; from < this.#table.length; from += wordsPerSlot) {
      const pair = this.#table.subarray(from, from + wordsPerSlot);
      if (pair[3] !== 0) table.set(pair, this.#find(table, slots, pair[0]!, pair[1]!, pair[2]!));
    }
    this.#slots = slots;
    this.#table = table;
  }
}
