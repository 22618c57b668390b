/** The geometry of a vector tile's feature: two numbers a vertex, nothing else is made. Pure. */

import type { PixelBox } from '../types.js';

/** Points, lines or rings in tile units. A ring's first vertex isn't repeated at its end. */
export interface Coordinates {
  /** x and y in turn. */
  readonly xy: readonly number[];
  /** Where each part ends in `xy`. */
  readonly ends: readonly number[];
}

/** A packed list of 32-bit integers. Reading never fails: what a damaged list lacks is 0. */
export class Integers {
  constructor(
    private readonly bytes: Uint8Array,
    private at: number,
    private readonly end: number,
  ) {}

  get done(): boolean {
    return this.at >= this.end;
  }

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

  /** One that is stored in zigzag order: 0, −1, 1, −2, … */
  nextSigned(): number {
    const value = this.next();
    return (value >>> 1) ^ -(value & 1);
  }
}

const moveTo = 1;
const lineTo = 2;
const closePath = 7;

/**
 * The walk over a feature's commands: each vertex is the last one plus two differences. What follows an unknown command
 * is left out.
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

/** The box around all vertices; empty (inside out) without one. */
export function boxOf(xy: readonly number[]): PixelBox {
  let minX = Infinity;
  let minY = Infinity;
  let maxX = -Infinity;
  let maxY = -Infinity;
  for (let i = 0; i < xy.length; i += 2) {
    const x = xy[i]!;
    const y = xy[i + 1]!;
    if (x < minX) minX = x;
    if (x > maxX) maxX = x;
    if (y < minY) minY = y;
    if (y > maxY) maxY = y;
  }
  return { minX, minY, maxX, maxY };
}

/** Twice the area of one part's ring, from `start` to `end` in `xy`; positive when it is clockwise on the screen. */
export function doubledArea(xy: readonly number[], start: number, end: number): number {
  let area = 0;
  for (let i = start, j = end - 2; i < end; j = i, i += 2) area += xy[j]! * xy[i + 1]! - xy[i]! * xy[j + 1]!;
  return area;
}
