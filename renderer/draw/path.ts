/**
 * Converts coordinates to paths of the drawing engine.
 *
 * A path is parsed from one text, because one call per vertex would take several times as long. Differences of integers
 * keep the text short.
 */
import { Path2D } from '@napi-rs/canvas';
import { isRing, type Lines, type Part, partsOf, turnedRingPart, type Vertices } from './vertices.js';

/** Origin of a path's coordinates, in tile units. */
export type Origin = readonly [x: number, y: number];

const tileCorner: Origin = [0, 0];

/**
 * Returns lines or rings as SVG path data. Coordinates are relative to the origin, multiplied by `precision` and
 * rounded.
 */
export function pathData({ xy, ends }: Lines, closed: boolean, precision = 1, [originX, originY] = tileCorner): string {
  let data = '';
  let i = 0;
  for (const end of ends) {
    let x = Math.round((xy[i]! - originX) * precision);
    let y = Math.round((xy[i + 1]! - originY) * precision);
    data += `M${x} ${y}`;
    if (end - i > 2) data += 'l';
    for (i += 2; i < end; i += 2) {
      const nextX = Math.round((xy[i]! - originX) * precision);
      const nextY = Math.round((xy[i + 1]! - originY) * precision);
      data += `${nextX - x} ${nextY - y} `;
      x = nextX;
      y = nextY;
    }
    if (closed) data += 'Z';
  }
  return data;
}

/**
 * Returns one path of all lines and rings, in tile units. Turned rings are turned back: in one path, filled by the
 * nonzero rule, rings of both directions would cancel each other out.
 */
export function pathOf(vertices: Vertices): Path2D {
  let data = '';
  for (const part of partsOf(vertices))
    data += pathData(part.kind === turnedRingPart ? reversed(part) : part, isRing(part.kind));
  return new Path2D(data);
}

function reversed({ xy, ends }: Part): Lines {
  const turned: number[] = [];
  for (let i = xy.length - 2; i >= 0; i -= 2) turned.push(xy[i]!, xy[i + 1]!);
  return { xy: turned, ends };
}
