/** Converts chains of positions to lines in the image, in every copy of the world. */
import { type LineList, linePart, ringPart } from '../draw/vertices.js';
import type { PixelBox, Position, Viewport } from '../types.js';
import { nearest, unwrapped } from '../view/fit.js';
import { type Pixel, worldPixel, worldSizePx } from '../view/projection.js';

/**
 * Returns an area's boundary in CSS pixels of the image, once for each copy of the world that may show part of it.
 * `reachPx` is the distance that is drawn beside it.
 */
export function ringLines(view: Viewport, ring: readonly Position[], reachPx: number): LineList {
  const points = inImage(view, ring);
  const worldPx = worldSizePx(view.zoom);
  let [west, east] = [Infinity, -Infinity];
  for (const [x] of points) {
    west = Math.min(west, x - reachPx);
    east = Math.max(east, x + reachPx);
  }
  const copies: number[][] = [];
  for (let copy = Math.ceil(-east / worldPx); west + copy * worldPx < view.width; copy++) {
    copies.push(points.flatMap(([x, y]) => [x + copy * worldPx, y]));
  }
  return lineList(copies, ringPart);
}

/**
 * Returns a line in CSS pixels of the image, in all copies of the world. `reachPx` is the distance that is drawn beside
 * it.
 *
 * A line may go around the world once with every second position. Each copy has only the sections that may be visible:
 * all copies of all positions would be a quadratic number.
 */
export function chainLines(view: Viewport, positions: readonly Position[], reachPx: number): LineList {
  const points = inImage(view, positions);
  const worldPx = worldSizePx(view.zoom);
  const lines: number[][] = [];
  /** The line that ends at a position, by the number of its copy. */
  const unfinished = new Map<number, { readonly line: number[]; readonly last: number }>();
  for (let index = 1; index < points.length; index++) {
    const [from, to] = [points[index - 1]!, points[index]!];
    if (Math.max(from[1], to[1]) < -reachPx || Math.min(from[1], to[1]) > view.height + reachPx) continue;
    const [west, east] = [Math.min(from[0], to[0]) - reachPx, Math.max(from[0], to[0]) + reachPx];
    for (let copy = Math.ceil(-east / worldPx); west + copy * worldPx < view.width; copy++) {
      const before = unfinished.get(copy);
      let line = before?.last === index - 1 ? before.line : undefined;
      if (!line) {
        line = [from[0] + copy * worldPx, from[1]];
        lines.push(line);
      }
      line.push(to[0] + copy * worldPx, to[1]);
      unfinished.set(copy, { line, last: index });
    }
  }
  for (const line of lines) makeVisible(line);
  return lineList(lines, linePart);
}

/** Length of a line that stays in one place, in CSS pixels. Only with a direction it is painted, as a dot. */
const dotPx = 0.01;

function makeVisible(line: number[]): void {
  const [x, y] = line;
  if (line.every((value, i) => value === (i % 2 === 0 ? x : y))) line[line.length - 2]! += dotPx;
}

function lineList(lines: readonly number[][], kind: LineList['kinds'][number]): LineList {
  let end = 0;
  const ends = lines.map(({ length }) => {
    end += length;
    return end;
  });
  return { xy: lines.flat(), ends, kinds: lines.map(() => kind) };
}

/** Smoothed edges reach so far beyond a shape. CSS pixels. */
const smoothedPx = 2;

/** Returns the box of what is drawn of lines, and up to this distance beside them. */
export function boxAround({ xy }: LineList, reachPx: number): PixelBox {
  const beside = reachPx + smoothedPx;
  let [minX, minY, maxX, maxY] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i < xy.length; i += 2) {
    minX = Math.min(minX, xy[i]!);
    maxX = Math.max(maxX, xy[i]!);
    minY = Math.min(minY, xy[i + 1]!);
    maxY = Math.max(maxY, xy[i + 1]!);
  }
  return { minX: minX - beside, minY: minY - beside, maxX: maxX + beside, maxY: maxY + beside };
}

/** Returns the chain in CSS pixels of the image, in one copy of the world. */
function inImage(view: Viewport, positions: readonly Position[]): Pixel[] {
  const [centerX, centerY] = worldPixel(view.center, view.zoom);
  return nearCenter(view, unwrapped(positions)).map((position) => {
    const [x, y] = worldPixel(position, view.zoom);
    return [x - centerX + view.width / 2, y - centerY + view.height / 2];
  });
}

/** Returns the chain in the copy of the world whose first position is nearest to the centre. */
function nearCenter(view: Viewport, chain: readonly Position[]): Position[] {
  const [first] = chain;
  if (first === undefined) return [];
  const world = nearest(first, view.center)[0] - first[0];
  return chain.map(([longitude, latitude]) => [longitude + world, latitude]);
}
