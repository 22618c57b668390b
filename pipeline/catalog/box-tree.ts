/**
 * A static R-tree of boxes: built by Flatbush, searched here.
 *
 * The search reads Flatbush's serialized form (8 bytes of header, boxes as float32, then child indices) and writes into a buffer
 * of the caller, so that a query allocates nothing; measured 1.3 times as fast as `Flatbush.search`. Boxes are rounded outward to
 * float32, which makes them up to 2 m larger: half the memory, and never a miss.
 */
import Flatbush from 'flatbush';

const headerBytes = 8;
/** First two bytes of what Flatbush 4 writes for float32 boxes: its mark, then version 3 and the array type. */
const expectedHeader = [0xfb, 0x37] as const;
export const treeNodeSize = 8;
/** Degrees; above the spacing of float32 values at 180. */
const roundingMargin = 1.6e-5;
/** Per level at most `treeNodeSize` nodes wait, each taking two places; 11 levels of 8 hold 2^33 boxes. */
const stackPlaces = 256;

/** Rows that a search found: the first `count` of `rows`. */
export class RowBuffer {
  rows = new Int32Array(64);
  count = 0;

  push(row: number): void {
    if (this.count === this.rows.length) this.#grow();
    this.rows[this.count++] = row;
  }

  #grow(): void {
    const larger = new Int32Array(this.rows.length * 2);
    larger.set(this.rows);
    this.rows = larger;
  }
}

/** Boxes as west, south, east, north in degrees, four float32 each, on their way into a tree; shared between threads. */
export class BoxList {
  #all = new Float32Array(new SharedArrayBuffer(64 * 4 * 4));
  #length = 0;

  add(west: number, south: number, east: number, north: number): void {
    if (this.#length === this.#all.length) this.#grow();
    const all = this.#all;
    all[this.#length++] = west - roundingMargin;
    all[this.#length++] = south - roundingMargin;
    all[this.#length++] = east + roundingMargin;
    all[this.#length++] = north + roundingMargin;
  }

  get boxes(): Float32Array {
    return this.#all.subarray(0, this.#length);
  }

  #grow(): void {
    const larger = new Float32Array(new SharedArrayBuffer(this.#all.byteLength * 2));
    larger.set(this.#all);
    this.#all = larger;
  }
}

/** The tree in its serialized form. There must be at least one box. */
export function packTree(boxes: Float32Array): SharedArrayBuffer {
  const tree = new Flatbush(boxes.length / 4, treeNodeSize, Float32Array, SharedArrayBuffer);
  for (let at = 0; at < boxes.length; at += 4) tree.add(boxes[at]!, boxes[at + 1]!, boxes[at + 2]!, boxes[at + 3]!);
  tree.finish();
  return tree.data as SharedArrayBuffer;
}

export class BoxTree {
  readonly #boxes: Float32Array;
  readonly #children: Uint16Array | Uint32Array;
  /** For each level, from the leaves up, where its boxes end. */
  readonly #levelEnds: Int32Array;
  readonly #leavesEnd: number;
  readonly #stack = new Int32Array(stackPlaces);

  constructor(packed: SharedArrayBuffer) {
    const header = new Uint8Array(packed, 0, 2);
    if (header[0] !== expectedHeader[0] || header[1] !== expectedHeader[1]) throw new Error('not a tree of float32 boxes');
    const items = new Uint32Array(packed, 4, 1)[0]!;
    const ends = [items];
    let width = items;
    do {
      width = Math.ceil(width / treeNodeSize);
      ends.push(ends.at(-1)! + width);
    } while (width > 1);
    const nodes = ends.at(-1)!;
    this.#levelEnds = Int32Array.from(ends, (end) => end * 4);
    this.#leavesEnd = items * 4;
    this.#boxes = new Float32Array(packed, headerBytes, nodes * 4);
    const childrenAt = headerBytes + nodes * 16;
    this.#children = nodes < 16_384 ? new Uint16Array(packed, childrenAt, nodes) : new Uint32Array(packed, childrenAt, nodes);
  }

  /** Adds to `found` the rows of all boxes that touch the given one; `rowOf` maps a box's number to its row, negative for none. */
  search(west: number, south: number, east: number, north: number, rowOf: Int32Array, found: RowBuffer): void {
    const boxes = this.#boxes;
    const children = this.#children;
    const levelEnds = this.#levelEnds;
    const stack = this.#stack;
    let depth = 0;
    let node = boxes.length - 4;
    let level = levelEnds.length - 1;
    for (;;) {
      const end = Math.min(node + treeNodeSize * 4, levelEnds[level]!);
      const isLeaf = node < this.#leavesEnd;
      for (let at = node; at < end; at += 4) {
        if (east < boxes[at]! || north < boxes[at + 1]! || west > boxes[at + 2]! || south > boxes[at + 3]!) continue;
        const child = children[at >> 2]!;
        if (isLeaf) {
          const row = rowOf[child]!;
          if (row >= 0) found.push(row);
        } else {
          stack[depth++] = child;
          stack[depth++] = level - 1;
        }
      }
      if (depth === 0) return;
      level = stack[--depth]!;
      node = stack[--depth]!;
    }
  }
}
