/** An LRU cache of what maps prepare of the cells of tiles. */
import { LRUCache } from 'lru-cache';

/** Values by key and cell. */
export class CellCache<Value extends object> {
  /** The values of each key by the number of the cell. */
  private readonly entries: LRUCache<string, readonly (Value | undefined)[]>;

  /** `sizeOf` returns the size of a value; each key has `entrySize` in addition. */
  constructor(maxSize: number, entrySize: number, sizeOf: (value: Value) => number) {
    this.entries = new LRUCache({
      maxSize,
      sizeCalculation: (values) => values.reduce((sum, value) => sum + (value ? sizeOf(value) : 0), entrySize),
    });
  }

  /**
   * Returns the values of cells. `key` identifies what is prepared of which tile. If cells are missing, `maker` is
   * called once, and what it returns for each of them.
   */
  get(key: string, cells: readonly number[], maker: () => (cell: number) => Value): Value[] {
    let values = this.entries.get(key) ?? [];
    const missing = cells.filter((cell) => values[cell] === undefined);
    if (missing.length > 0) {
      const make = maker();
      // The cache measures new objects only.
      const more = [...values];
      for (const cell of missing) more[cell] = make(cell);
      this.entries.set(key, more);
      values = more;
    }
    return cells.map((cell) => values[cell]!);
  }
}
