/** Decodes the geometry of a vector tile's feature, with two numbers per vertex and no other allocation. Pure. */
import type { PixelBox } from '../types.js';

/** Points, lines or rings in tile units. Rings do not repeat their first vertex. */
export interface Coordinates {
  /** Alternating x and y coordinates. */
  readonly xy: readonly number[];
  /** End of each part in `xy`. */
  readonly ends: readonly number[];
}

/** A packed list of 32-bit integers. Reading never fails: missing values of a damaged list are 0. */
export class Integers {
  constructor(
    private readonly bytes: Uint8Array,
    private at: number,
    private readonly end: number,
  ) {}

  /** Returns whether the list has been read. */
  get done(): boolean {
    return this.at >= this.end;
  }

  /** Index of the next byte. */
  get position(): number {
    return this.at;
  }

  /** Returns the next integer; 0 after the end. */
  next(): number {
    if (this.at >= this.end) return 0;
    let value = this.bytes[this.at++]!;
    if (value < 0x80) return value;
    value &= 0x7f;
    for (let shift = 7; this.at < this.end; shift += 7) {
      const byte = this.bytes[this.at++]!;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value;
  }

  /** A list in zigzag encoding: 0, −1, 1, −2, … */
  nextSigned(): number {
    const value = this.next();
    return (value >>> 1) ^ -(value & 1);
  }
}

const moveTo = 1;
const lineTo = 2;
const closePath = 7;

/**
 * Iterates over a feature's commands: each vertex is the previous one plus two differences. Everything after an unknown
 * command is ignored.
 */
export function readCoordinates(bytes: Uint8Array, start: number, end: number): Coordinates {
  const integers = new Integers(bytes, start, end);
  const xy: number[] = [];
  const ends: number[] = [];
  let x = 0;
  let y = 0;
  while (!integers.done) {
    const commandAndCount = integers.next();
    const command = commandAndCount & 7;
    if (command === closePath) continue;
    if (command !== moveTo && command !== lineTo) break;
    for (let count = commandAndCount >>> 3; count > 0 && !integers.done; count--) {
      if (command === moveTo && xy.length > 0) ends.push(xy.length);
      x += integers.nextSigned();
      y += integers.nextSigned();
      xy.push(x, y);
    }
  }
  if (xy.length > 0) ends.push(xy.length);
  return { xy, ends };
}

/** Width of a tile where its zoom begins. CSS pixels. */
const tilePx = 512;
/** What a vertex costs to draw, as the length of a line that costs the same. */
export const vertexPx = 8;

/** Lower than all coordinates of tiles when negative, and higher when positive. Boxes do not reach beyond it. */
const beyond = 2 ** 30;

/** How much there is to draw of a feature's geometry, and where. Measures one feature after the other. */
export class Detail {
  /**
   * 8 for each vertex, and the way along x and y from one to the next inside the tile, in pixels of a tile that is 512
   * wide.
   */
  px = 0;
  /** Where the measured part ends in the bytes. */
  end = 0;
  /** Bounding box of the vertices in tile units; empty (inside out) without one. */
  minX = beyond;
  minY = beyond;
  maxX = -beyond;
  maxY = -beyond;

  /** Measures the vertices that {@link readCoordinates} returns. Ends at the vertex that exceeds `mostPx`. */
  measure(bytes: Uint8Array, start: number, end: number, extent: number, mostPx: number): this {
    const integers = new Integers(bytes, start, end);
    const unitPx = tilePx / Math.max(1, extent);
    let [x, y, insideX, insideY] = [0, 0, 0, 0];
    let px = 0;
    let [minX, minY, maxX, maxY] = [beyond, beyond, -beyond, -beyond];
    while (!integers.done) {
      const commandAndCount = integers.next();
      const command = commandAndCount & 7;
      if (command === closePath) continue;
      if (command !== moveTo && command !== lineTo) break;
      for (let count = commandAndCount >>> 3; count > 0 && !integers.done; count--) {
        const before = integers.position;
        x += integers.nextSigned();
        y += integers.nextSigned();
        const nextX = Math.max(0, Math.min(extent, x));
        const nextY = Math.max(0, Math.min(extent, y));
        const wayUnits = command === lineTo ? Math.abs(nextX - insideX) + Math.abs(nextY - insideY) : 0;
        const withVertexPx = px + vertexPx + wayUnits * unitPx;
        if (withVertexPx > mostPx) return this.note(before, px, minX, minY, maxX, maxY);
        px = withVertexPx;
        insideX = nextX;
        insideY = nextY;
        if (x < minX) minX = x;
        if (x > maxX) maxX = x;
        if (y < minY) minY = y;
        if (y > maxY) maxY = y;
      }
    }
    return this.note(end, px, minX, minY, maxX, maxY);
  }

  private note(end: number, px: number, minX: number, minY: number, maxX: number, maxY: number): this {
    this.end = end;
    this.px = px;
    this.minX = Math.max(minX, -beyond);
    this.minY = Math.max(minY, -beyond);
    this.maxX = Math.min(maxX, beyond);
    this.maxY = Math.min(maxY, beyond);
    return this;
  }
}

/** A box in tile units. A box of integers takes half the memory of others. */
export class TileBox implements PixelBox {
  constructor(
    readonly minX: number,
    readonly minY: number,
    readonly maxX: number,
    readonly maxY: number,
  ) {}
}

/** The box of no vertices: inside out. */
export const emptyBox = new TileBox(beyond, beyond, -beyond, -beyond);

/** Returns the bounding box of all vertices; empty (inside out) without one. */
export function boxOf(xy: readonly number[]): PixelBox {
  let { minX, minY, maxX, maxY } = emptyBox;
  for (let i = 0; i < xy.length; i += 2) {
    const x = xy[i]!;
    const y = xy[i + 1]!;
    if (x < minX) minX = x;
    if (x > maxX) maxX = x;
    if (y < minY) minY = y;
    if (y > maxY) maxY = y;
  }
  return new TileBox(minX, minY, maxX, maxY);
}

/** Returns the smallest box that contains both. */
export const union = (a: PixelBox, b: PixelBox): PixelBox => ({
  minX: Math.min(a.minX, b.minX),
  minY: Math.min(a.minY, b.minY),
  maxX: Math.max(a.maxX, b.maxX),
  maxY: Math.max(a.maxY, b.maxY),
});

/** Returns whether two boxes have a point in common; touching edges count. */
export function overlaps(a: PixelBox, b: PixelBox): boolean {
  return a.minX <= b.maxX && b.minX <= a.maxX && a.minY <= b.maxY && b.minY <= a.maxY;
}

/** Returns twice the area of one ring, from `start` to `end` in `xy`; positive when it is clockwise on the screen. */
export function doubledArea(xy: readonly number[], start: number, end: number): number {
  let area = 0;
  for (let i = start, j = end - 2; i < end; j = i, i += 2) area += xy[j]! * xy[i + 1]! - xy[i]! * xy[j + 1]!;
  return area;
}

/** Returns the outer rings of a polygon, each with its holes. A ring that winds like the first one is an outer one. */
export function polygonParts({ xy, ends }: Coordinates): (readonly number[])[][] {
  const rings = ends.map((end, i) => xy.slice(ends[i - 1] ?? 0, end));
  const parts: (readonly number[])[][] = [];
  const isClockwise = (ring: readonly number[]) => doubledArea(ring, 0, ring.length) > 0;
  for (const ring of rings) {
    if (isClockwise(ring) === isClockwise(rings[0]!)) parts.push([ring]);
    else parts.at(-1)!.push(ring);
  }
  return parts;
}
