/**
 * The units of drawing: features, or the parts of large features.
 *
 * Tiles of low zooms join thousands of lines or areas into one feature. Drawing the parts separately, culled and
 * grouped with their neighbours, is several times as fast.
 */
import { boxOf, type Coordinates, doubledArea } from '../tiles/coordinates.js';
import { type GeometryType, polygon, type TileFeature } from '../tiles/vector-tile.js';
import type { PixelBox } from '../types.js';

/** The geometry of a feature, which `coordinates` decodes. */
export interface Shape {
  readonly type: GeometryType;
  /** Bounding box of all vertices, in tile units. */
  readonly box: PixelBox;
  /** Upper bound of the number of vertices. */
  readonly maxVertices: number;
  coordinates(): Coordinates;
}

/** Number of vertices above which a feature is split. */
const maxVertices = 256;

/** Returns the features, or the separate lines, points or areas with their holes of large ones. */
export function shapesOf(features: readonly TileFeature[]): Shape[] {
  const shapes: Shape[] = [];
  for (const feature of features) {
    if (feature.maxVertices <= maxVertices) shapes.push(feature);
    // They may be more than a call has arguments.
    else for (const part of partsOf(feature)) shapes.push(part);
  }
  return shapes;
}

function partsOf(feature: TileFeature): readonly Shape[] {
  const coordinates = feature.coordinates();
  if (coordinates.ends.length === 1) return [feature];
  const firsts = coordinates.ends.map((_, part) => part).filter((part) => beginsShape(feature.type, coordinates, part));
  return firsts.map((first, i) => partOf(feature.type, coordinates, first, firsts[i + 1] ?? coordinates.ends.length));
}

/** Splits a polygon. A ring that winds like the feature's first ring starts an area; other rings are its holes. */
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
