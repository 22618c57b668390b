/**
 * The features that a style layer draws of one tile, prepared for the drawing engine.
 *
 * Features that are painted alike share a batch, unless a feature between them in drawing order overlaps. A batch is
 * split into chunks of neighbouring shapes. One call draws a chunk, and its box decides whether it is in view. Chunks
 * are small: filling one path of thousands of contours takes several times as long as filling its parts. Paths and
 * lists of vertices are built when they are first drawn, and kept.
 */
import type { Path2D } from '@napi-rs/canvas';
import { emptyBox, TileBox } from '../tiles/coordinates.js';
import { line, point, type TileFeature, type TileLayer } from '../tiles/vector-tile.js';
import type { PixelBox } from '../types.js';
import { pathOf } from './path.js';
import { batchKeysOf, type Selection, selector } from './selection.js';
import { type Shape, shapesOf } from './shape.js';
import { type Vertices, verticesOf } from './vertices.js';

const maxChunkAreas = 64;
const maxChunkLines = 4;
const maxChunkVertices = 4_000;

/** The features of one tile that a selection draws, in batches of equal properties. */
export interface Bucket {
  /** In drawing order. */
  readonly batches: readonly Batch[];
  readonly features: number;
  readonly vertices: number;
  /** Estimated memory once all paths are built. */
  readonly weightBytes: number;
}

/** Features that are painted alike. */
export interface Batch {
  /** Represents the batch when properties are evaluated. */
  readonly feature: TileFeature;
  readonly chunks: readonly Chunk[];
}

/** A few neighbouring shapes. */
export class Chunk {
  /** Bounding box of all vertices, in tile units. */
  readonly box: PixelBox;
  private read: Vertices | undefined;
  private own: Path2D | undefined;
  private derived: { readonly key: string; readonly path: Path2D } | undefined;

  /** `shapes` is empty once their vertices are read, which take less memory. */
  constructor(public shapes: readonly Shape[]) {
    this.box = boxAround(shapes);
  }

  /** Returns the vertices of the shapes. */
  vertices(): Vertices {
    if (!this.read) {
      this.read = verticesOf(this.shapes);
      this.shapes = [];
    }
    return this.read;
  }

  /** Returns the path of lines and rings, in tile units. */
  path(): Path2D {
    this.own ??= pathOf(this.vertices());
    return this.own;
  }

  /** Returns a path that `make` derives from the vertices. The last one is cached by its key. */
  derivedPath(key: string, make: () => Path2D): Path2D {
    if (this.derived?.key !== key) this.derived = { key, path: make() };
    return this.derived.path;
  }
}

/**
 * Returns a function that builds a bucket of features of a tile's layer. `zoom` is the whole zoom at or below the
 * view's; `images` are the names of existing images.
 */
export function bucketBuilder(
  layer: TileLayer,
  selection: Selection,
  zoom: number,
  images: string[] = [],
): (features: readonly TileFeature[]) => Bucket {
  const select = selector(selection, layer, zoom);
  const keyOf = batchKeysOf(selection, layer, zoom, images);
  return (features) => {
    const selected = select(features);
    const vertices = selected.reduce((sum, feature) => sum + feature.maxVertices, 0);
    return {
      batches: batchesOf(selected, keyOf, layer.extent).map((batch) => toBatch(batch, layer.extent)),
      features: selected.length,
      vertices,
      // Coordinates, paths, shapes and chunks.
      weightBytes: 60 * (selected.length + vertices),
    };
  };
}

/** Joins the buckets of cells, whose features all have one paint. */
export function joined(buckets: readonly Bucket[]): Bucket {
  const batches = buckets.flatMap((bucket) => bucket.batches);
  const [first] = batches;
  const sum = (name: 'features' | 'vertices' | 'weightBytes') => buckets.reduce((total, each) => total + each[name], 0);
  return {
    batches: first ? [{ feature: first.feature, chunks: batches.flatMap(({ chunks }) => chunks) }] : [],
    features: sum('features'),
    vertices: sum('vertices'),
    weightBytes: sum('weightBytes'),
  };
}

function batchesOf(
  features: readonly TileFeature[],
  keyOf: (feature: TileFeature) => string,
  extent: number,
): (readonly TileFeature[])[] {
  const [first] = features;
  if (!first) return [];
  const firstKey = keyOf(first);
  if (features.every((feature) => keyOf(feature) === firstKey)) return [features];
  const batches: TileFeature[][] = [];
  const lastOfKey = new Map<string, number>();
  const topmost = new TopmostBatches(extent);
  for (const feature of features) {
    const key = keyOf(feature);
    const below = topmost.under(feature.box);
    let number = lastOfKey.get(key);
    if (number === undefined || number < below) {
      number = batches.push([]) - 1;
      lastOfKey.set(key, number);
    }
    batches[number]!.push(feature);
    topmost.cover(feature.box, number);
  }
  return batches;
}

const gridCells = 32;

/**
 * A grid over the tile with the topmost batch in each cell. A feature may join a batch only if no later batch covers
 * one of its cells.
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

function toBatch(features: readonly TileFeature[], extent: number): Batch {
  const chunks: Chunk[] = [];
  let chunk: Shape[] = [];
  let vertices = 0;
  const all = shapesOf(features);
  // Points keep their order: circles that overlap lie on top of earlier ones.
  for (const shape of all[0]?.type === point ? all : alongCurve(all, extent)) {
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

/** Sorts shapes along a Morton curve, so that neighbours in the list are neighbours on the map. */
function alongCurve(shapes: Shape[], extent: number): Shape[] {
  const count = shapes.length;
  if (count <= maxChunkLines) return shapes;
  // Sorting plain numbers is several times as fast as sorting the shapes.
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

/** Returns the first eight bits of a fraction with a zero before each, to interleave two of them. */
function spread(fraction: number): number {
  let bits = Math.max(0, Math.min(255, Math.floor(256 * fraction)));
  bits = (bits | (bits << 4)) & 0x0f0f;
  bits = (bits | (bits << 2)) & 0x3333;
  return (bits | (bits << 1)) & 0x5555;
}

function boxAround(shapes: readonly Shape[]): PixelBox {
  let { minX, minY, maxX, maxY } = emptyBox;
  for (const { box } of shapes) {
    minX = Math.min(minX, box.minX);
    minY = Math.min(minY, box.minY);
    maxX = Math.max(maxX, box.maxX);
    maxY = Math.max(maxY, box.maxY);
  }
  return new TileBox(minX, minY, maxX, maxY);
}
