/** Builds vector tiles from features in tile units, and sources of them. For tests. */
import { fromGeojsonVt } from '@maplibre/vt-pbf';
import type { TileSource } from '../types.js';

/** A vertex in tile units. */
export type Vertex = readonly [x: number, y: number];

/** A feature of a tile that a test builds. */
export interface DrawnFeature {
  readonly type: 'point' | 'line' | 'polygon';
  /** Points, lines or unclosed rings. Outer rings are clockwise on the screen, as in the specification. */
  readonly parts: readonly (readonly Vertex[])[];
  readonly tags?: Readonly<Record<string, string | number | boolean>>;
  readonly id?: number;
}

const types = { point: 1, line: 2, polygon: 3 } as const;

/** Returns the bytes of a tile with these layers. */
export function tileBytes(layers: Readonly<Record<string, readonly DrawnFeature[]>>, extent = 4096): Uint8Array {
  const tiles = Object.entries(layers).map(([name, features]) => [name, { features: features.map(encoded) }]);
  return fromGeojsonVt(Object.fromEntries(tiles), { version: 2, extent });
}

function encoded({ type, parts, tags = {}, id }: DrawnFeature) {
  const closed = type === 'polygon' ? parts.map((ring) => [...ring, ring[0]]) : parts;
  return {
    type: types[type],
    geometry: type === 'point' ? parts.flat() : closed,
    tags,
    ...(id !== undefined && { id }),
  };
}

/** Returns the ring of a rectangle. */
export function rectangle(left: number, top: number, right: number, bottom: number): Vertex[] {
  return [
    [left, top],
    [right, top],
    [right, bottom],
    [left, bottom],
  ];
}

/** Returns a source whose tiles are the results of `tile`. */
export function sourceOf(tile: TileSource['tile'], overrides: Partial<TileSource> = {}): TileSource {
  return {
    kind: 'vector',
    minZoom: 0,
    maxZoom: 14,
    tileSizePx: 512,
    bounds: null,
    attribution: '',
    layers: null,
    tile,
    close: async () => {},
    ...overrides,
  };
}
