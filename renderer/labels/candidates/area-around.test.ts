import { expect, test } from 'vitest';
import { type DrawnFeature, rectangle, tileBytes } from '../../testing/tiles.js';
import { decodeVectorTile } from '../../tiles/vector-tile.js';
import { areasAround } from './area-around.js';

const areas = { sourceLayer: 'cover', only: { key: 'kind', values: ['park', 'garden'] }, minPx2: 0 };
const park = (kind: string, ...parts: DrawnFeature['parts']): DrawnFeature => ({
  type: 'polygon',
  parts,
  tags: { kind },
});
const at = (x: number, y: number): DrawnFeature => ({ type: 'point', parts: [[[x, y]]] });

test('the size around a point is that of the largest wanted area in which it lies', () => {
  const tile = decodeVectorTile(
    tileBytes({
      cover: [
        park('park', rectangle(0, 0, 100, 50), rectangle(200, 0, 300, 20)),
        park('garden', rectangle(10, 10, 20, 20)),
        park('wood', rectangle(0, 0, 1000, 1000)),
      ],
      places: [at(15, 15), at(60, 40), at(250, 10), at(150, 10), at(500, 500)],
    }),
  );
  const sizeOf = areasAround(tile, areas);
  expect(tile.layers.get('places')!.features.map(sizeOf)).toEqual([5000, 5000, 2000, 0, 0]);
});

test('a point outside a bent area but in its box is not in it, and a hole is no area', () => {
  const bent: DrawnFeature['parts'][number] = [
    [0, 0],
    [100, 0],
    [100, 20],
    [20, 20],
    [20, 100],
    [0, 100],
  ];
  const tile = decodeVectorTile(
    tileBytes({
      cover: [
        park('park', bent),
        park('park', rectangle(200, 0, 300, 100), [...rectangle(240, 40, 260, 60)].reverse()),
      ],
      places: [at(60, 60), at(10, 60), at(250, 50)],
    }),
  );
  expect(tile.layers.get('places')!.features.map(areasAround(tile, areas))).toEqual([0, 3600, 10_000]);
});

test('a point in the middle of a building is that of the building, and any other one is that of a shop in it', () => {
  const wedge: DrawnFeature['parts'][number] = [
    [300, 0],
    [390, 0],
    [300, 90],
  ];
  const tile = decodeVectorTile(
    tileBytes({
      cover: [park('museum', rectangle(0, 0, 101, 50)), park('mall', wedge)],
      places: [at(50, 25), at(51, 26), at(54, 25), at(330, 30), at(340, 40), at(500, 500)],
    }),
  );
  const middles = { sourceLayer: 'cover', isMiddle: true, minPx2: 0 } as const;
  expect(tile.layers.get('places')!.features.map(areasAround(tile, middles))).toEqual([5050, 5050, 0, 4050, 0, 0]);
});

test('a tile without the areas has none around its points', () => {
  const tile = decodeVectorTile(tileBytes({ places: [at(5, 5)] }));
  expect(areasAround(tile, areas)(tile.layers.get('places')!.features[0]!)).toBe(0);
});
