/**
 * Coordinates as paths of the drawing engine.
 *
 * A path is made from one text: a call into the engine per vertex would cost several times as much. Differences of
 * whole numbers keep the text short.
 */

import { Path2D } from '@napi-rs/canvas';
import { type Coordinates, doubledArea } from '../tiles/coordinates.js';
import { polygon } from '../tiles/vector-tile.js';
import type { Shape } from './shape.js';

/** Where coordinates of a path are counted from, in tile units. */
export type Origin = readonly [x: number, y: number];

const tileCorner: Origin = [0, 0];

/**
 * Lines, or closed rings, as path data of SVG; coordinates are counted from the origin, multiplied by `precision` and
 * rounded.
 */
export function pathData(
  { xy, ends }: Coordinates,
  closed: boolean,
  precision = 1,
  [originX, originY] = tileCorner,
): string {
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

/** The shapes' own coordinates as one path, in tile units. */
export function shapesPath(shapes: readonly Shape[]): Path2D {
  let data = '';
  for (const shape of shapes) {
    const isArea = shape.type === polygon;
    data += pathData(isArea ? rightWay(shape.coordinates()) : shape.coordinates(), isArea);
  }
  return new Path2D(data);
}

/**
 * Rings in the specification's sense of rotation, outer ones clockwise on the screen. Old tiles have them the other way
 * round; side by side in one path, filled where the winding isn't zero, the two kinds would cut each other out.
 */
function rightWay(coordinates: Coordinates): Coordinates {
  return doubledArea(coordinates.xy, 0, coordinates.ends[0] ?? 0) < 0 ? reversed(coordinates) : coordinates;
}

function reversed({ xy, ends }: Coordinates): Coordinates {
  const turned: number[] = [];
  let start = 0;
  for (const end of ends) {
    for (let i = end - 2; i >= start; i -= 2) turned.push(xy[i]!, xy[i + 1]!);
    start = end;
  }
  return { xy: turned, ends };
}
