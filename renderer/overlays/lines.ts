/** Converts chains of positions to SVG paths in the image, in every copy of the world. */
import type { Path2D } from '@napi-rs/canvas';
import type { PixelBox, Position, Viewport } from '../types.js';
import { nearest, unwrapped } from '../view/fit.js';
import { type Pixel, worldPixel, worldSizePx } from '../view/projection.js';

/**
 * Returns SVG path data of an area's boundary in CSS pixels of the image, once for each copy of the world that may show
 * part of it.
 */
export function ringPath(view: Viewport, ring: readonly Position[], reachPx: number): string {
  const points = inImage(view, ring);
  const worldPx = worldSizePx(view.zoom);
  let [west, east] = [Infinity, -Infinity];
  for (const [x] of points) {
    west = Math.min(west, x - reachPx);
    east = Math.max(east, x + reachPx);
  }
  let data = '';
  for (let copy = Math.ceil(-east / worldPx); west + copy * worldPx < view.width; copy++) {
    data += `M${points.map((point) => shown(point, copy * worldPx)).join('L')}Z`;
  }
  return data;
}

/**
 * Returns SVG path data of a line in CSS pixels of the image, in all copies of the world. `reachPx` is the distance
 * that is drawn beside the line.
 *
 * A line may go around the world once with every second position. Each copy has only the sections that may be visible:
 * all copies of all positions would be a quadratic number.
 */
export function linePath(view: Viewport, positions: readonly Position[], reachPx: number): string {
  const points = inImage(view, positions);
  const worldPx = worldSizePx(view.zoom);
  const copies = new Map<number, { data: string; last: number }>();
  for (let index = 1; index < points.length; index++) {
    const [from, to] = [points[index - 1]!, points[index]!];
    if (Math.max(from[1], to[1]) < -reachPx || Math.min(from[1], to[1]) > view.height + reachPx) continue;
    const [west, east] = [Math.min(from[0], to[0]) - reachPx, Math.max(from[0], to[0]) + reachPx];
    for (let copy = Math.ceil(-east / worldPx); west + copy * worldPx < view.width; copy++) {
      const before = copies.get(copy) ?? { data: '', last: -1 };
      const start = before.last === index - 1 ? before.data : `${before.data}M${shown(from, copy * worldPx)}`;
      copies.set(copy, { data: `${start}L${shown(to, copy * worldPx)}`, last: index });
    }
  }
  return [...copies.values()].map(({ data }) => data).join('');
}

/** Smoothed edges reach so far beyond a shape. CSS pixels. */
const smoothedPx = 2;

/** Returns the box of what is drawn of a path, and up to this distance beside it. */
export function boxAround(path: Path2D, reachPx: number): PixelBox {
  const [left, top, right, bottom] = path.getBounds();
  const beside = reachPx + smoothedPx;
  return { minX: left - beside, minY: top - beside, maxX: right + beside, maxY: bottom + beside };
}

const shown = ([x, y]: Pixel, shiftPx: number): string => `${(x + shiftPx).toFixed(2)} ${y.toFixed(2)}`;

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
