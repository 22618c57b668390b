/**
 * Which fences' boxes touch a point's: a static tree over the bulk, a small dynamic one over what was added since.
 *
 * A removed row is struck from the static tree's list of rows; an added one goes into the small tree. When what was added and
 * struck passes a bound, a new static tree is built from a snapshot, in another thread when it is large. Changes go on meanwhile and are struck from the
 * snapshot's rows too; the swap replaces the tree, and what was added since the snapshot stays in the small one.
 *
 * Boxes are cut at the antimeridian: a fence that crosses it is held as two, and so is a query that reaches it.
 */
import RBush from 'rbush';
import { BoxList, BoxTree, packTree, RowBuffer } from './box-tree.js';
import type { TreeBuilder } from './tree-builder.js';

/** Where an index reads the boxes of the rows it holds. */
export interface BoxSource {
  /** All rows are less. */
  readonly rowCapacity: number;
  /**
   * Writes [minX, minY, maxX, maxY] in degrees; longitudes may leave [-180, 180], for a box is in the frame of its unwrapped fence.
   * False for a row without a fence.
   */
  boxOf(row: number, target: Float64Array): boolean;
}

interface Entry {
  readonly row: number;
  readonly minX: number;
  readonly minY: number;
  readonly maxX: number;
  readonly maxY: number;
}

/** The boxes of a snapshot in the order in which they were packed, and the tree over them once it is built. */
interface Bulk {
  /** Row of each box; -1 once struck. */
  readonly rowOf: Int32Array;
  /** First box of each row; -1 for none. A second box follows the first. */
  readonly firstBoxOf: Int32Array;
  tree: BoxTree | undefined;
  /** Boxes struck so far. */
  struck: number;
}

const emptyBulk = (): Bulk => ({ rowOf: new Int32Array(0), firstBoxOf: new Int32Array(0), tree: undefined, struck: 0 });

/** Packs anew when more than this many boxes, and more than this share of the bulk, are out of place. */
const minChangesToPack = 1_024;
const shareToPack = 0.05;

/** Calls `take` with the box, or the two, within [-180, 180] that cover the same places. */
export function cutAtAntimeridian(
  [minX, minY, maxX, maxY]: Float64Array,
  take: (west: number, south: number, east: number, north: number) => void,
): void {
  if (maxX! - minX! >= 360) {
    take(-180, minY!, 180, maxY!);
    return;
  }
  const shift = minX! < -180 ? 360 : minX! > 180 ? -360 : 0;
  const east = maxX! + shift;
  take(minX! + shift, minY!, Math.min(east, 180), maxY!);
  if (east > 180) take(-180, minY!, east - 360, maxY!);
}

export class FenceIndex {
  readonly found = new RowBuffer();
  readonly #source: BoxSource;
  readonly #builder: TreeBuilder;
  #bulk = emptyBulk();
  /** A snapshot that is being built. */
  #pending: Bulk | undefined;
  /** The box in question. */
  readonly #box = new Float64Array(4);
  readonly #recent = new RBush<Entry>();
  readonly #recentEntries = new Map<number, Entry[]>();
  /** Rows added since the pending snapshot was taken. */
  readonly #sinceSnapshot = new Set<number>();
  /** Has any fence ever had two boxes? Only then can a narrow query find a row twice. */
  #hasCutBoxes = false;
  /** By row: the number of the last query that found it. */
  #foundIn = new Int32Array(0);
  #query = 0;

  constructor(source: BoxSource, builder: TreeBuilder) {
    this.#source = source;
    this.#builder = builder;
  }

  /** Packs all rows of the source at once, in this thread. For loading. */
  load(): void {
    const { bulk, boxes } = this.#snapshot();
    this.#recent.clear();
    this.#recentEntries.clear();
    if (bulk.rowOf.length > 0) bulk.tree = new BoxTree(packTree(boxes));
    this.#bulk = bulk;
  }

  /** The source must hold the row already. */
  add(row: number): void {
    this.#addRecent(row);
    if (this.#pending) this.#sinceSnapshot.add(row);
    this.#packIfDue();
  }

  /** The source must have let go of the row already. */
  remove(row: number): void {
    for (const entry of this.#recentEntries.get(row) ?? []) this.#recent.remove(entry);
    this.#recentEntries.delete(row);
    this.#sinceSnapshot.delete(row);
    strike(this.#bulk, row);
    if (this.#pending) strike(this.#pending, row);
    this.#packIfDue();
  }

  /**
   * Finds the rows whose box touches the box around a point that reaches `halfWidth` and `halfHeight` degrees from it. They
   * are in `found` until the next search, each once.
   */
  search(longitude: number, latitude: number, halfWidth: number, halfHeight: number): void {
    const south = latitude - halfHeight;
    const north = latitude + halfHeight;
    const west = longitude - halfWidth;
    const east = longitude + halfWidth;
    this.found.count = 0;
    if (west > -180 && east < 180) {
      this.#collect(west, south, east, north);
      if (this.#hasCutBoxes) this.#dropRepeats();
      return;
    }
    this.#collect(Math.max(west, -180), south, Math.min(east, 180), north);
    if (west <= -180) this.#collect(west + 360, south, 180, north);
    if (east >= 180) this.#collect(-180, south, east - 360, north);
    this.#dropRepeats();
  }

  #collect(west: number, south: number, east: number, north: number): void {
    const { tree, rowOf } = this.#bulk;
    if (tree !== undefined) tree.search(west, south, east, north, rowOf, this.found);
    if (this.#recentEntries.size === 0) return;
    for (const { row } of this.#recent.search({ minX: west, minY: south, maxX: east, maxY: north })) this.found.push(row);
  }

  #dropRepeats(): void {
    const { found } = this;
    if (this.#foundIn.length < this.#source.rowCapacity) {
      this.#foundIn = new Int32Array(this.#source.rowCapacity * 2);
    }
    this.#query = (this.#query + 1) | 0;
    if (this.#query <= 0) {
      this.#foundIn.fill(0);
      this.#query = 1;
    }
    let kept = 0;
    for (let index = 0; index < found.count; index++) {
      const row = found.rows[index]!;
      if (this.#foundIn[row] === this.#query) continue;
      this.#foundIn[row] = this.#query;
      found.rows[kept++] = row;
    }
    found.count = kept;
  }

  #addRecent(row: number): void {
    const entries: Entry[] = [];
    this.#source.boxOf(row, this.#box);
    cutAtAntimeridian(this.#box, (minX, minY, maxX, maxY) => entries.push({ row, minX, minY, maxX, maxY }));
    for (const entry of entries) this.#recent.insert(entry);
    this.#recentEntries.set(row, entries);
    this.#hasCutBoxes ||= entries.length > 1;
  }

  #packIfDue(): void {
    const changes = this.#recentEntries.size + this.#bulk.struck;
    if (this.#pending || changes <= Math.max(minChangesToPack, shareToPack * this.#bulk.rowOf.length)) return;
    const { bulk, boxes } = this.#snapshot();
    if (bulk.rowOf.length === 0) {
      this.#swap(bulk);
      return;
    }
    this.#pending = bulk;
    this.#builder.build(boxes, (packed) => {
      bulk.tree = new BoxTree(packed);
      this.#swap(bulk);
    });
  }

  #snapshot(): { bulk: Bulk; boxes: Float32Array } {
    const { rowCapacity } = this.#source;
    const rows: number[] = [];
    const list = new BoxList();
    const firstBoxOf = new Int32Array(rowCapacity).fill(-1);
    for (let row = 0; row < rowCapacity; row++) {
      if (!this.#source.boxOf(row, this.#box)) continue;
      firstBoxOf[row] = rows.length;
      cutAtAntimeridian(this.#box, (west, south, east, north) => {
        rows.push(row);
        list.add(west, south, east, north);
      });
      this.#hasCutBoxes ||= rows.length - firstBoxOf[row]! > 1;
    }
    return { bulk: { rowOf: Int32Array.from(rows), firstBoxOf, tree: undefined, struck: 0 }, boxes: list.boxes };
  }

  #swap(bulk: Bulk): void {
    this.#bulk = bulk;
    this.#pending = undefined;
    for (const row of this.#recentEntries.keys()) {
      if (!this.#sinceSnapshot.has(row)) this.#recentEntries.delete(row);
    }
    this.#sinceSnapshot.clear();
    this.#recent.clear();
    this.#recent.load([...this.#recentEntries.values()].flat());
  }
}

/** Takes a row out of a bulk, if it is there. */
function strike(bulk: Bulk, row: number): void {
  const first = bulk.firstBoxOf[row] ?? -1;
  if (first < 0) return;
  bulk.firstBoxOf[row] = -1;
  for (let box = first; bulk.rowOf[box] === row; box++) {
    bulk.rowOf[box] = -1;
    bulk.struck++;
  }
}
