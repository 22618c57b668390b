/** The vertices of a few shapes in one list, as our own painters need them. Pure. */

import type { Coordinates } from '../tiles/coordinates.js';
import { point, polygon } from '../tiles/vector-tile.js';
import { rightWay } from './path.js';
import type { Shape } from './shape.js';

/** Lines and rings in tile units. */
export interface LineList {
  /** Alternating x and y. */
  readonly xy: ArrayLike<number>;
  /** End of each line or ring in `xy`. */
  readonly ends: ArrayLike<number>;
  /** Whether each of them is a ring. */
  readonly rings: readonly boolean[];
}

/** Lines and rings. Outer rings are clockwise on the screen. */
export interface Vertices extends LineList {
  readonly xy: Int32Array;
  readonly ends: Int32Array;
}

/** Returns the vertices of lines and areas. Points are left out. */
export function verticesOf(shapes: readonly Shape[]): Vertices {
  const parts = shapes.filter(({ type }) => type !== point).map(partOf);
  const xy = new Int32Array(parts.reduce((sum, { coordinates }) => sum + coordinates.xy.length, 0));
  const ends: number[] = [];
  const rings: boolean[] = [];
  let length = 0;
  for (const { coordinates, isRing } of parts) {
    for (const end of coordinates.ends) {
      ends.push(length + end);
      rings.push(isRing);
    }
    for (const value of coordinates.xy) xy[length++] = value;
  }
  return { xy, ends: Int32Array.from(ends), rings };
}

function partOf(shape: Shape): { readonly coordinates: Coordinates; readonly isRing: boolean } {
  const isRing = shape.type === polygon;
  return { coordinates: isRing ? rightWay(shape.coordinates()) : shape.coordinates(), isRing };
}
