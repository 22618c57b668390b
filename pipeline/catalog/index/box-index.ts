/**
 * Finds the fences or beacons whose boxes touch the box of a query: a large static tree, and a small dynamic one for
 * recent rows.
 *
 * A removed row is deleted from the static tree; an added one goes into the dynamic tree. When the number of changes
 * passes a limit, a new static tree is built from a snapshot, in another thread if it is large. Rows that are removed
 * meanwhile are also removed from the snapshot. When the new tree replaces the old one, rows added since the snapshot
 * stay in the dynamic tree.
 *
 * Boxes are split at the antimeridian: a row or a query that crosses it has two.
 */
import RBush from 'rbush';
import { BoxList, BoxTree, packTree, perDegree, RowBuffer, roundedDown, roundedUp } from './box-tree.js';
import type { TreeBuilder } from './tree-builder.js';

/** In units of 1 / {@link perDegree} degree, like all boxes of this file. */
interface Box {
  readonly minX: number;
  readonly minY: number;
  readonly maxX: number;
  readonly maxY: number;
}
interface Entry extends Box {
  readonly row: number;
}
/** A node of the dynamic tree, as RBush's `toJSON` returns it. */
interface Node extends Box {
  readonly leaf: boolean;
  readonly children: readonly (Entry | Node)[];
}

/** The boxes of a snapshot in the order of packing, and the tree over them once it is built. */
interface Bulk {
  /** Row of each box; -1 after removal. */
  readonly rowOf: Int32Array;
  /** First box of each row; -1 for none. A second box follows the first. */
  readonly firstBoxOf: Int32Array;
  tree: BoxTree | undefined;
  /** Number of removed boxes. */
  removed: number;
}

const emptyBulk = (): Bulk => ({
  rowOf: new Int32Array(0),
  firstBoxOf: new Int32Array(0),
  tree: undefined,
  removed: 0,
});

/** A new tree is built when more boxes than this number, and more than this share of the tree, have changed. */
const minChangesToPack = 1_024;
const shareToPack = 0.02;

const halfTurn = 180 * perDegree;
const fullTurn = 360 * perDegree;
/** Marks an absent box, in place of its western coordinate. */
const absent = 2 ** 31 - 1;

/** Adds the box at `at` to `list`, as one or two boxes within [-180, 180] degrees. */
function addCutAtAntimeridian(row: number, boxes: Int32Array, at: number, list: BoxList): void {
  const [minX, minY, maxX, maxY] = [boxes[at]!, boxes[at + 1]!, boxes[at + 2]!, boxes[at + 3]!];
  if (maxX - minX >= fullTurn) {
    list.add(row, -halfTurn, minY, halfTurn, maxY);
    return;
  }
  const shift = minX < -halfTurn ? fullTurn : minX > halfTurn ? -fullTurn : 0;
  const east = maxX + shift;
  list.add(row, minX + shift, minY, Math.min(east, halfTurn), maxY);
  if (east > halfTurn) list.add(row, -halfTurn, minY, east - fullTurn, maxY);
}

/** The boxes of all fences, or of all beacons, of one project and environment, by row. */
export class BoxIndex {
  readonly found = new RowBuffer();
  readonly #builder: TreeBuilder;
  #bulk = emptyBulk();
  /** The snapshot whose tree is being built. */
  #pending: Bulk | undefined;
  /** Per row minX, minY, maxX, maxY; {@link absent} for a free row. */
  #boxes = new Int32Array(0);
  /** Greater than all rows. */
  #rowsEnd = 0;
  readonly #recent = new RBush<Entry>();
  readonly #recentEntries = new Map<number, Entry[]>();
  /** Rows added since the pending snapshot was taken. */
  readonly #sinceSnapshot = new Set<number>();
  /** True once a row had two boxes. Only then a query away from the antimeridian can find a row twice. */
  #hasCutBoxes = false;
  /** Number of the last query that found the row, by row. */
  #foundIn = new Int32Array(0);
  #query = 0;

  constructor(builder: TreeBuilder) {
    this.#builder = builder;
  }

  /**
   * Adds a new row. `box` is [minX, minY, maxX, maxY] in degrees. Longitudes may be outside [-180, 180], because the
   * ring of the fence is unwrapped.
   */
  add(row: number, box: Float64Array): void {
    this.addUnpacked(row, box);
    this.#addRecent(row);
    if (this.#pending) this.#sinceSnapshot.add(row);
    this.#packIfDue();
  }

  /** Adds a row that is not found until {@link packAll}. For loading many rows. */
  addUnpacked(row: number, box: Float64Array): void {
    this.#growTo(row + 1);
    this.#boxes[4 * row] = roundedDown(box[0]!);
    this.#boxes[4 * row + 1] = roundedDown(box[1]!);
    this.#boxes[4 * row + 2] = roundedUp(box[2]!);
    this.#boxes[4 * row + 3] = roundedUp(box[3]!);
  }

  /** Builds the tree of all rows in this thread. For loading. */
  packAll(): void {
    const { bulk, boxes } = this.#snapshot();
    this.#recent.clear();
    this.#recentEntries.clear();
    if (bulk.rowOf.length > 0) bulk.tree = new BoxTree(packTree(boxes), bulk.rowOf);
    this.#bulk = bulk;
  }

  /** Removes a row, if it exists. */
  remove(row: number): void {
    if (row < this.#rowsEnd) this.#boxes[4 * row] = absent;
    for (const entry of this.#recentEntries.get(row) ?? []) this.#recent.remove(entry);
    this.#recentEntries.delete(row);
    this.#sinceSnapshot.delete(row);
    removeFromBulk(this.#bulk, row);
    if (this.#pending) removeFromBulk(this.#pending, row);
    this.#packIfDue();
  }

  /**
   * Finds the rows whose box touches the box of `halfWidth` and `halfHeight` degrees around a point. `found` contains
   * each of them once until the next search.
   */
  search(longitude: number, latitude: number, halfWidth: number, halfHeight: number): void {
    const south = roundedDown(Math.max(latitude - halfHeight, -90));
    const north = roundedUp(Math.min(latitude + halfHeight, 90));
    const west = roundedDown(longitude - halfWidth);
    const east = roundedUp(longitude + halfWidth);
    this.found.count = 0;
    if (west > -halfTurn && east < halfTurn) {
      this.#collect(west, south, east, north);
      if (this.#hasCutBoxes) this.#dropRepeats();
      return;
    }
    this.#collect(Math.max(west, -halfTurn), south, Math.min(east, halfTurn), north);
    if (west <= -halfTurn) this.#collect(west + fullTurn, south, halfTurn, north);
    if (east >= halfTurn) this.#collect(-halfTurn, south, east - fullTurn, north);
    this.#dropRepeats();
  }

  #collect(west: number, south: number, east: number, north: number): void {
    this.#bulk.tree?.search(west, south, east, north, this.found);
    if (this.#recentEntries.size === 0) return;
    collectRecent(this.#recent.toJSON(), west, south, east, north, this.found);
  }

  #dropRepeats(): void {
    const { found } = this;
    if (this.#foundIn.length < this.#rowsEnd) {
      this.#foundIn = new Int32Array(this.#rowsEnd * 2);
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

  #growTo(rows: number): void {
    this.#rowsEnd = Math.max(this.#rowsEnd, rows);
    if (rows * 4 <= this.#boxes.length) return;
    const larger = new Int32Array(Math.max(rows * 4, this.#boxes.length * 2)).fill(absent);
    larger.set(this.#boxes);
    this.#boxes = larger;
  }

  #addRecent(row: number): void {
    const list = new BoxList(2);
    addCutAtAntimeridian(row, this.#boxes, 4 * row, list);
    const entries = Array.from(list.rows, (_, index): Entry => {
      const [minX, minY, maxX, maxY] = list.boxes.subarray(index * 4) as unknown as [number, number, number, number];
      return { row, minX, minY, maxX, maxY };
    });
    for (const entry of entries) this.#recent.insert(entry);
    this.#recentEntries.set(row, entries);
    this.#hasCutBoxes ||= entries.length > 1;
  }

  #packIfDue(): void {
    const changes = this.#recentEntries.size + this.#bulk.removed;
    if (this.#pending || changes <= Math.max(minChangesToPack, shareToPack * this.#bulk.rowOf.length)) return;
    const { bulk, boxes } = this.#snapshot();
    if (bulk.rowOf.length === 0) {
      this.#swap(bulk);
      return;
    }
    this.#pending = bulk;
    this.#builder.build(boxes, (packed) => {
      bulk.tree = new BoxTree(packed, bulk.rowOf);
      this.#swap(bulk);
    });
  }

  #snapshot(): { bulk: Bulk; boxes: Int32Array } {
    const list = new BoxList(this.#rowsEnd);
    const firstBoxOf = new Int32Array(this.#rowsEnd).fill(-1);
    for (let row = 0; row < this.#rowsEnd; row++) {
      if (this.#boxes[4 * row] === absent) continue;
      firstBoxOf[row] = list.length;
      addCutAtAntimeridian(row, this.#boxes, 4 * row, list);
      this.#hasCutBoxes ||= list.length - firstBoxOf[row]! > 1;
    }
    return { bulk: { rowOf: list.rows, firstBoxOf, tree: undefined, removed: 0 }, boxes: list.boxes };
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

/** Removes a row from a snapshot, if it exists. */
function removeFromBulk(bulk: Bulk, row: number): void {
  const first = bulk.firstBoxOf[row] ?? -1;
  if (first < 0) return;
  bulk.firstBoxOf[row] = -1;
  for (let box = first; bulk.rowOf[box] === row; box++) {
    bulk.rowOf[box] = -1;
    bulk.tree?.remove(box);
    bulk.removed++;
  }
}

/** Searches like `RBush.search`, without an array per query: twice as fast. */
function collectRecent(node: Node, west: number, south: number, east: number, north: number, found: RowBuffer): void {
  const { children, leaf } = node;
  for (let index = 0; index < children.length; index++) {
    const child = children[index]!;
    if (east < child.minX || north < child.minY || west > child.maxX || south > child.maxY) continue;
    if (leaf) found.push((child as Entry).row);
    else collectRecent(child as Node, west, south, east, north, found);
  }
}
