/**
 * The features that a style layer draws of one tile, ready for the drawing engine.
 *
 * Features that look the same go into one batch, as long as nothing that lies between them in the order of drawing
 * could show the difference. A batch is cut into chunks of neighbours: one call draws a chunk, one box tells whether it
 * is in view. Small chunks, because a path of thousands of contours takes several times as long to fill as its parts,
 * and one of a few dozen strokes a third longer. Paths are made when they are first drawn, and kept.
 */

import type { Path2D } from '@napi-rs/canvas';
import { line, type TileFeature, type TileLayer } from '../tiles/vector-tile.js';
import type { PixelBox } from '../types.js';
import { shapesPath } from './path.js';
import { looksOf, type Selection, select } from './selection.js';
import { type Shape, shapesOf } from './shape.js';

const maxChunkAreas = 64;
const maxChunkLines = 4;
const maxChunkVertices = 4_000;

export interface Bucket {
  /** In the order they are drawn in. */
  readonly batches: readonly Batch[];
  /** An estimate of what it takes once all its paths are made. */
  readonly weightBytes: number;
}

export interface Batch {
  /** Stands for all of the batch where a property depends on the feature. */
  readonly feature: TileFeature;
  readonly chunks: readonly Chunk[];
}

/** A few shapes that lie near each other. */
export class Chunk {
  /** Around all vertices, in tile units. */
  readonly box: PixelBox;
  private own: Path2D | undefined;
  private derived: { readonly key: string; readonly path: Path2D } | undefined;

  constructor(readonly shapes: readonly Shape[]) {
    this.box = boxAround(shapes);
  }

  /** The shapes as they are, in tile units. */
  path(): Path2D {
    this.own ??= shapesPath(this.shapes);
    return this.own;
  }

  /** A path that `make` derives from the shapes; the last one is kept under its key. */
  derivedPath(key: string, make: () => Path2D): Path2D {
    if (this.derived?.key !== key) this.derived = { key, path: make() };
    return this.derived.path;
  }
}

/** `zoom` is the whole zoom at or below the view's; `images` are the names of those that there are. */
export function buildBucket(layer: TileLayer, selection: Selection, zoom: number, images: string[] = []): Bucket {
  const features = select(selection, layer, zoom);
  const batches = batchesOf(features, looksOf(selection, layer, zoom, images), layer.extent);
  return { batches: batches.map((batch) => toBatch(batch, layer.extent)), weightBytes: weightBytes(features) };
}

/** Coordinates, the engine's path and one derived from it, and what a shape and its chunk take. */
function weightBytes(features: readonly TileFeature[]): number {
  return features.reduce((sum, feature) => sum + 60 * feature.maxVertices + 60, 200);
}

function batchesOf(features: TileFeature[], looks: (feature: TileFeature) => string, extent: number): TileFeature[][] {
  const [first] = features;
  if (!first) return [];
  const firstLook = looks(first);
  if (features.every((feature) => looks(feature) === firstLook)) return [features];
  const batches: TileFeature[][] = [];
  const lastOfLook = new Map<string, number>();
  const topmost = new TopmostBatches(extent);
  for (const feature of features) {
    const look = looks(feature);
    const below = topmost.under(feature.box);
    let number = lastOfLook.get(look);
    if (number === undefined || number < below) {
      number = batches.push([]) - 1;
      lastOfLook.set(look, number);
    }
    batches[number]!.push(feature);
    topmost.cover(feature.box, number);
  }
  return batches;
}

const gridCells = 32;

/**
 * On a grid over the tile: the highest batch that has a feature there. A feature may join a batch only if none above
 * covers its place.
 */
class TopmostBatches {
  private readonly cells = new Int32Array(gridCells * gridCells).fill(-1);

  constructor(private readonly extent: number) {}

  under(box: PixelBox): number {
    let highest = -1;
    this.forEachCell(box, (cell) => {
      highest = Math.max(highest, this.cells[cell]!);
    });
    return highest;
  }

  cover(box: PixelBox, batch: number): void {
    this.forEachCell(box, (cell) => {
      this.cells[cell] = Math.max(this.cells[cell]!, batch);
    });
  }

  private forEachCell(box: PixelBox, visit: (cell: number) => void): void {
    const maxColumn = this.cellOf(box.maxX);
    const maxRow = this.cellOf(box.maxY);
    for (let row = this.cellOf(box.minY); row <= maxRow; row++) {
      for (let column = this.cellOf(box.minX); column <= maxColumn; column++) visit(row * gridCells + column);
    }
  }

  private cellOf(coordinate: number): number {
    return Math.max(0, Math.min(gridCells - 1, Math.floor((coordinate * gridCells) / this.extent)));
  }
}

function toBatch(features: TileFeature[], extent: number): Batch {
  const chunks: Chunk[] = [];
  let chunk: Shape[] = [];
  let vertices = 0;
  for (const shape of alongCurve(features.flatMap(shapesOf), extent)) {
    const maxShapes = shape.type === line ? maxChunkLines : maxChunkAreas;
    if (chunk.length >= maxShapes || (chunk.length > 0 && vertices + shape.maxVertices > maxChunkVertices)) {
      chunks.push(new Chunk(chunk));
      chunk = [];
      vertices = 0;
    }
    chunk.push(shape);
    vertices += shape.maxVertices;
  }
  chunks.push(new Chunk(chunk));
  return { feature: features[0]!, chunks };
}

/** Sorted along a curve through the plane (Morton's), so that neighbours in the list are neighbours on the map. */
function alongCurve(shapes: Shape[], extent: number): Shape[] {
  const count = shapes.length;
  if (count <= maxChunkLines) return shapes;
  // Numbers alone are sorted several times as fast as what they stand for.
  const keys = new Float64Array(count);
  for (let i = 0; i < count; i++) keys[i] = curveKey(shapes[i]!.box, extent) * count + i;
  keys.sort();
  const sorted: Shape[] = [];
  for (const key of keys) sorted.push(shapes[key % count]!);
  return sorted;
}

function curveKey({ minX, minY, maxX, maxY }: PixelBox, extent: number): number {
  return spread((minX + maxX) / 2 / extent) | (spread((minY + maxY) / 2 / extent) << 1);
}

/** The first eight bits of a fraction, with a zero before each for two of them to be interleaved. */
function spread(fraction: number): number {
  let bits = Math.max(0, Math.min(255, Math.floor(256 * fraction)));
  bits = (bits | (bits << 4)) & 0x0f0f;
  bits = (bits | (bits << 2)) & 0x3333;
  return (bits | (bits << 1)) & 0x5555;
}

function boxAround(shapes: readonly Shape[]): PixelBox {
  const box = { minX: Infinity, minY: Infinity, maxX: -Infinity, maxY: -Infinity };
  for (const { box: other } of shapes) {
    box.minX = Math.min(box.minX, other.minX);
    box.minY = Math.min(box.minY, other.minY);
    box.maxX = Math.max(box.maxX, other.maxX);
    box.maxY = Math.max(box.maxY, other.maxY);
  }
  return box;
}
