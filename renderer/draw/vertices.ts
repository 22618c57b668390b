/** The vertices of a few shapes in one list, as painters need them. Pure. */
import { type Coordinates, doubledArea } from '../tiles/coordinates.js';
import { point, polygon } from '../tiles/vector-tile.js';
import type { Shape } from './shape.js';

/** Points, lines or rings in tile units. */
export interface Lines {
  /** Alternating x and y. */
  readonly xy: ArrayLike<number>;
  /** End of each part in `xy`. */
  readonly ends: readonly number[];
}

/** What a part is. A turned ring belongs to an area whose outer ring winds against the specification of tiles. */
type PartKind = typeof pointPart | typeof linePart | typeof ringPart | typeof turnedRingPart;
const pointPart = 0;
/** A line. */
export const linePart = 1;
/** A ring of an area that winds as the specification says. */
export const ringPart = 2;
/** A ring of an area that winds the other way. */
export const turnedRingPart = 3;

/** Returns whether the part is a ring of an area. */
export const isRing = (kind: PartKind): boolean => kind >= ringPart;

/** Lines and rings, of which `kinds` has one each. */
export interface LineList extends Lines {
  readonly kinds: readonly PartKind[];
}

/** Lines and rings in whole tile units. `xy` alternates x and y. */
export interface Vertices extends LineList {
  readonly xy: Int32Array;
}

/** Reads the vertices of shapes, in the order of the tile. */
export function verticesOf(shapes: readonly Shape[]): Vertices {
  const read = shapes.map((shape) => ({ shape, coordinates: shape.coordinates() }));
  const xy = new Int32Array(read.reduce((sum, { coordinates }) => sum + coordinates.xy.length, 0));
  const ends: number[] = [];
  const kinds: PartKind[] = [];
  let length = 0;
  for (const { shape, coordinates } of read) {
    const kind = kindOf(shape, coordinates);
    for (const end of coordinates.ends) {
      ends.push(length + end);
      kinds.push(kind);
    }
    // An iterator would make an object for each number.
    for (let i = 0; i < coordinates.xy.length; i++) xy[length++] = coordinates.xy[i]!;
  }
  return { xy, ends, kinds };
}

function kindOf({ type }: Shape, { xy, ends }: Coordinates): PartKind {
  if (type === point) return pointPart;
  if (type !== polygon) return linePart;
  return doubledArea(xy, 0, ends[0] ?? 0) < 0 ? turnedRingPart : ringPart;
}

/** A line or ring alone. */
export interface Part extends Lines {
  readonly kind: PartKind;
}

/** Returns each line and ring alone, without points. */
export function partsOf({ xy, ends, kinds }: Vertices): Part[] {
  const parts: Part[] = [];
  let start = 0;
  for (const [i, end] of ends.entries()) {
    const kind = kinds[i]!;
    if (kind !== pointPart) parts.push({ xy: xy.subarray(start, end), ends: [end - start], kind });
    start = end;
  }
  return parts;
}
