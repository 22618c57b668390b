import { expect, test } from 'vitest';
import { rectangle, sourceOf, tileBytes } from '../testing/tiles.js';
import { TileLoader } from './load.js';
import { TileStore } from './store.js';

const bytes = tileBytes({ shapes: [{ type: 'polygon', parts: [rectangle(0, 0, 100, 100)] }] });
/** More than the bytes and the only feature of a tile take. */
const tileWeightBytes = 4_000;

const places = (count: number) => Array.from({ length: count }, (_, x) => ({ zoom: 8, x, y: 0 }));

/** A source that counts its tiles, and a loader with space for some of them. */
function openLoader(maxTiles: number) {
  const fetched: number[] = [];
  const source = sourceOf(async (_zoom, x) => {
    fetched.push(x);
    return bytes;
  });
  const loader = new TileLoader(new TileStore(2 ** 20), maxTiles * tileWeightBytes);
  return { fetched, load: (count: number) => loader.load(source, places(count)) };
}

test('tiles keep the order of their places', async () => {
  const tiles = await openLoader(100).load(50);
  expect(tiles.map((tile) => tile.kind === 'vector' && tile.key.split('/')[2])).toEqual(
    places(50).map(({ x }) => `${x}`),
  );
});

test('a map with more than its tiles may take is refused, and the rest of them is not loaded', async () => {
  const { fetched, load } = openLoader(10);
  await expect(load(200)).rejects.toMatchObject({ code: 'map_too_large' });
  expect(fetched.length).toBeLessThan(50);
});

test('a tile that a map shows several times counts once', async () => {
  const source = sourceOf(async () => bytes);
  const loader = new TileLoader(new TileStore(2 ** 20), 2 * tileWeightBytes);
  const copies = Array.from({ length: 100 }, () => ({ zoom: 0, x: 0, y: 0 }));
  expect(await loader.load(source, copies)).toHaveLength(100);
});
