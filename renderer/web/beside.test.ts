import { expect, test } from 'vitest';
import { rectangle, sourceOf, tileBytes, type Vertex } from '../testing/tiles.js';
import { decodeVectorTile, type VectorTile } from '../tiles/vector-tile.js';
import type { Bounds } from '../types.js';
import { coveredTile, namesBeyond } from './beside.js';

const place = { zoom: 1, x: 0, y: 0 };
/** The left half of the tile. */
const leftHalf: Bounds = [-180, 0, -90, 85.0511287];

/** An extract: streets in its area, and the sea everywhere. */
const extract = tileBytes({
  water: [{ type: 'polygon', parts: [rectangle(-64, -64, 4160, 4160), rectangle(1000, 1000, 3000, 3000).reverse()] }],
  roads: Array.from({ length: 50 }, (_, i) => ({
    type: 'line' as const,
    parts: [
      [
        [0, 80 * i],
        [2000, 80 * i],
      ] satisfies Vertex[],
    ],
  })),
  names: [{ type: 'point', parts: [[[100, 100]]], tags: { name: 'Here' }, id: 7 }],
});
const boxOf = ({ layers }: VectorTile, layer: string) => layers.get(layer)!.features[0]!.box;

test('an area that fills a tile of an extract ends where the extract ends', () => {
  const tile = decodeVectorTile(coveredTile(extract, place, { bounds: leftHalf }));
  expect([...tile.layers.keys()]).toEqual(['water', 'roads', 'names', 'fenceline_covered']);
  expect(boxOf(tile, 'fenceline_covered')).toEqual({ minX: -16, minY: -16, maxX: 2048, maxY: 4112 });
  expect(boxOf(tile, 'water')).toEqual({ minX: -64, minY: -64, maxX: 2048, maxY: 4160 });
  const [island] = tile.layers.get('water')!.features[0]!.coordinates().ends.slice(1);
  expect(island).toBeDefined();
  expect(tile.layers.get('roads')!.features).toHaveLength(50);
  expect(tile.layers.get('names')!.features[0]).toMatchObject({ id: 7, properties: { name: 'Here' } });
});

test('a tile within the bounds stays as it is', () => {
  const bytes = coveredTile(extract, place, { bounds: [-180, -85, 180, 85.0511287] });
  expect(Buffer.from(bytes).subarray(0, extract.length).equals(Buffer.from(extract))).toBe(true);
  expect(boxOf(decodeVectorTile(bytes), 'fenceline_covered')).toMatchObject({ minX: -16, maxX: 4112 });
});

test('names of the basemap are those of places without a tile, or beyond what the tile covers', async () => {
  const at = (x: number, y: number, name: string) => ({ type: 'point', parts: [[[x, y]]], tags: { name } }) as const;
  // The tile at zoom 1 is the upper left quarter.
  const world = tileBytes({
    land: [{ type: 'polygon', parts: [rectangle(0, 0, 4096, 4096)] }],
    places: [at(500, 500, 'inside'), at(1500, 500, 'beyond'), at(3000, 500, 'east')],
  });
  const basemap = sourceOf(async () => world, { maxZoom: 0 });
  const archive = sourceOf(async (_zoom, x) => (x === 0 ? extract : undefined), { bounds: leftHalf });
  const namesAt = async (x: number, source = archive) => {
    const bytes = await namesBeyond({ ...place, x }, source, basemap);
    const features = bytes ? (decodeVectorTile(bytes).layers.get('places')?.features ?? []) : [];
    return features.map((feature) => [feature.properties.name, ...feature.coordinates().xy]);
  };
  expect(await namesAt(0)).toEqual([['beyond', 3000, 1000]]);
  expect(await namesAt(1)).toEqual([['east', 1904, 1000]]);
  expect(await namesAt(0, { ...archive, minZoom: 2 })).toHaveLength(2);
  expect(await namesAt(0, { ...archive, bounds: null })).toEqual([]);
});
