/**
 * What is drawn of a feature in one go: the feature itself, or one of its many parts.
 *
 * Tiles of lower zooms join everything of a kind into one feature of thousands of lines or areas. Taken apart, its
 * parts are culled and drawn with their neighbours, which is several times as fast.
 */

import { boxOf, type Coordinates, doubledArea } from '../tiles/coordinates.js';
import { type GeometryType, polygon, type TileFeature } from '../tiles/vector-tile.js';
import type { PixelBox } from '../types.js';

export interface Shape {
  readonly type: GeometryType;
  /** Around all vertices, in tile units. */
  readonly box: PixelBox;
  /** At least as many as there are. */
  readonly maxVertices: number;
  coordinates(): Coordinates;
}

/** Features of more vertices than this are taken apart. */
const maxVertices = 256;

/** A feature, or its lines, points or areas with their holes, each by itself. */
export function shapesOf(feature: TileFeature): readonly Shape[] {
  if (feature.maxVertices <= maxVertices) return [feature];
  const coordinates = feature.coordinates();
  if (coordinates.ends.length === 1) return [feature];
  const firsts = coordinates.ends.map((_, part) => part).filter((part) => beginsShape(feature.type, coordinates, part));
  return firsts.map((first, i) => partOf(feature.type, coordinates, first, firsts[i + 1] ?? coordinates.ends.length));
}

/**
 * An area begins with a ring of the same sense of rotation as the feature's first ring; rings of the other sense are
 * its holes.
 */
function beginsShape(type: GeometryType, { xy, ends }: Coordinates, part: number): boolean {
  if (type !== polygon || part === 0) return true;
  return doubledArea(xy, 0, ends[0]!) > 0 === doubledArea(xy, ends[part - 1]!, ends[part]!) > 0;
}

function partOf(type: GeometryType, { xy, ends }: Coordinates, first: number, beyond: number): Shape {
  const start = ends[first - 1] ?? 0;
  const own = xy.slice(start, ends[beyond - 1]);
  const coordinates = { xy: own, ends: ends.slice(first, beyond).map((end) => end - start) };
  return { type, box: boxOf(own), maxVertices: own.length / 2, coordinates: () => coordinates };
}
