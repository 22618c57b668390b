import sharp from 'sharp';
import { expect, test } from 'vitest';
import { until } from '../../testing/until.js';
import { rectangle, sourceOf, tileBytes } from '../testing/tiles.js';
import { TileStore } from './store.js';

const bytes = tileBytes({ shapes: [{ type: 'polygon', parts: [rectangle(0, 0, 100, 100)] }] });

test('a tile is fetched once for concurrent maps, and cached', async () => {
  let fetched = 0;
  const source = sourceOf(async () => {
    fetched++;
    return bytes;
  });
  const store = new TileStore(1e6);
  const [first, second] = await Promise.all([store.get(source, 1, 0, 0), store.get(source, 1, 0, 0)]);
  expect(await store.get(source, 1, 0, 0)).toBe(first);
  expect(second).toBe(first);
  expect(fetched).toBe(1);
});

test('two sources have separate tiles', async () => {
  const store = new TileStore(1e6);
  const full = await store.get(
    sourceOf(async () => bytes),
    1,
    0,
    0,
  );
  const none = await store.get(
    sourceOf(async () => undefined),
    1,
    0,
    0,
  );
  expect([full.kind, none.kind]).toEqual(['vector', 'empty']);
});

test('a failure is returned but not cached', async () => {
  let down = true;
  const source = sourceOf(async () => {
    if (down) throw new Error('down');
    return bytes;
  });
  const store = new TileStore(1e6);
  expect(await store.get(source, 0, 0, 0)).toMatchObject({ kind: 'failed', error: new Error('down') });
  down = false;
  expect((await store.get(source, 0, 0, 0)).kind).toBe('vector');
});

test.each([
  ['no vector tile', 'vector', new Uint8Array([26, 255, 255])],
  ['no picture', 'raster', bytes],
] as const)('bytes that are %s are a failure', async (_name, kind, wrong) => {
  const source = sourceOf(async () => wrong, { kind });
  expect((await new TileStore(1e6).get(source, 0, 0, 0)).kind).toBe('failed');
});

test('an image larger than a tile is a failure', async () => {
  const large = await sharp({ create: { width: 2000, height: 2000, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  const source = sourceOf(async () => large, { kind: 'raster' });
  expect((await new TileStore(1e9).get(source, 0, 0, 0)).kind).toBe('failed');
});

test('the least recently used tiles are evicted beyond the bound', async () => {
  const fetched: number[] = [];
  const source = sourceOf(async (_zoom, x) => {
    fetched.push(x);
    return bytes;
  });
  const store = new TileStore(5_000);
  for (const x of [0, 1, 0, 2, 3, 4, 5, 0]) await store.get(source, 5, x, 0);
  expect(fetched).toEqual([0, 1, 2, 3, 4, 5, 0]);
});

test('a tile is fetched again after a while, with another key if it has changed', async () => {
  const answers = [bytes, bytes, tileBytes({ shapes: [{ type: 'polygon', parts: [rectangle(0, 0, 50, 50)] }] })];
  const source = sourceOf(async () => answers.shift());
  const store = new TileStore(1e6, 5);
  const keys = new Set<string>();
  await until(
    async () => {
      const tile = await store.get(source, 0, 0, 0);
      keys.add(tile.kind === 'vector' ? tile.key : tile.kind);
      return answers.length === 0;
    },
    { pollEveryMs: 5 },
  );
  expect(keys.size).toBe(2);
});
