import { expect, test } from 'vitest';
import { rectangle, tileBytes } from '../testing/tiles.js';
import type { Bounds } from '../types.js';
import { worldPosition } from '../view/projection.js';
import { coveredPart } from './coverage.js';
import { decodeVectorTile } from './vector-tile.js';

const [zoom, x, y] = [6, 33, 22];
/** The left half of the tile. */
const half = { minX: 0, minY: 0, maxX: 0.5, maxY: 1 };
const at = (shareX: number, shareY: number) => worldPosition([(x + shareX) * 512, (y + shareY) * 512], zoom);
const [[west, north], [east, south]] = [at(-3, -3), at(0.5, 4)];
const bounds: Bounds = [west, south, east, north];

const line = (from: number, to: number) => ({
  type: 'line' as const,
  parts: [Array.from({ length: 200 }, (_, i): [number, number] => [from + ((to - from) * i) / 199, 20 * i])],
});
const sea = { type: 'polygon' as const, parts: [rectangle(-64, -64, 4160, 4160)] };
const ferry = { type: 'line' as const, parts: [[[2_000, 2_000] as const, [4_000, 2_100] as const]] };

const partOf = (layers: Parameters<typeof tileBytes>[0], within: Bounds | null = bounds) =>
  coveredPart(decodeVectorTile(tileBytes(layers)), zoom, x, y, within);

test('a tile of an extract is covered as far as the bounds reach, whatever lies below it or leaves it', () => {
  for (const layers of [{ roads: [line(0, 2_000)] }, { earth: [sea], roads: [line(0, 2_000), ferry] }]) {
    const part = partOf(layers)!;
    for (const side of ['minX', 'minY', 'maxX', 'maxY'] as const) expect(part[side]).toBeCloseTo(half[side], 9);
  }
});

test('a tile with contents beyond the bounds is covered as far as they reach', () => {
  expect(partOf({ roads: [line(0, 4_000)] })).toBeNull();
  expect(partOf({ roads: [line(0, 3_000)] })!.maxX).toBeCloseTo(3_000 / 4_096, 1);
});

test('a tile inside the bounds, beside them, or of an archive without bounds is covered completely', () => {
  const roads = [line(0, 2_000)];
  expect(partOf({ roads }, null)).toBeNull();
  expect(partOf({ roads }, [west, south, at(0.95, 0)[0], north])).toBeNull();
  expect(partOf({ roads }, [west, south, at(-1, 0)[0], north])).toBeNull();
});
