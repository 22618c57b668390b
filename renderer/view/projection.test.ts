import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Viewport } from '../types.js';
import { coverTiles, imagePixel, maxLatitude, tileZoom, worldPixel, worldPosition, worldSizePx } from './projection.js';

const longitude = fc.double({ min: -180, max: 180, noNaN: true });
const latitude = fc.double({ min: -maxLatitude, max: maxLatitude, noNaN: true });
const zoom = fc.double({ min: 0, max: 23, noNaN: true });
const viewport: fc.Arbitrary<Viewport> = fc.record({
  center: fc.tuple(longitude, latitude),
  zoom,
  width: fc.integer({ min: 100, max: 2048 }),
  height: fc.integer({ min: 100, max: 2048 }),
  scale: fc.constant(1),
});

test('the world is 512 pixels wide at zoom 0, with corners at ±180°, ±85.0511°', () => {
  expect(worldPixel([0, 0], 0)).toEqual([256, 256]);
  const [left, top] = worldPixel([-180, 89], 0);
  const [right, bottom] = worldPixel([180, -89], 0);
  expect([left, right]).toEqual([0, 512]);
  expect(top).toBeCloseTo(0, 9);
  expect(bottom).toBeCloseTo(512, 9);
});

test('world pixels convert back to positions', () => {
  fc.assert(
    fc.property(longitude, latitude, zoom, (x, y, z) => {
      const [backX, backY] = worldPosition(worldPixel([x, y], z), z);
      expect(backX).toBeCloseTo(x, 9);
      expect(backY).toBeCloseTo(y, 9);
    }),
  );
});

test('a position is drawn as many pixels from the centre of the image as it is from the centre of the view', () => {
  fc.assert(
    fc.property(viewport, fc.nat({ max: 100 }), fc.nat({ max: 100 }), (view, x, y) => {
      const [centerX, centerY] = worldPixel(view.center, view.zoom);
      const position = worldPosition([centerX + x - view.width / 2, centerY + y - view.height / 2], view.zoom);
      fc.pre(view.width < worldSizePx(view.zoom) && Math.abs(position[1]) < maxLatitude - 0.01);
      const [backX, backY] = imagePixel(view, position);
      expect(backX).toBeCloseTo(x, 3);
      expect(backY).toBeCloseTo(y, 3);
    }),
  );
});

test('a position is drawn in the copy of the world nearest to the centre', () => {
  fc.assert(
    fc.property(viewport, longitude, latitude, fc.integer({ min: -3, max: 3 }), (view, x, y, turns) => {
      const size = worldSizePx(view.zoom);
      const pixel = imagePixel(view, [x + 360 * turns, y]);
      expect(Math.abs(pixel[0] - view.width / 2)).toBeLessThanOrEqual(size / 2 + 1e-3);
      const oneTurn = Math.abs(pixel[0] - imagePixel(view, [x, y])[0]) / size;
      expect(Math.abs(oneTurn - Math.round(oneTurn))).toBeLessThan(1e-6);
    }),
  );
});

test('the tiles of a view are exactly those that overlap the image, in all copies of the world', () => {
  const small = fc.record({
    center: fc.tuple(longitude, latitude),
    zoom: fc.double({ min: 0, max: 5, noNaN: true }),
    width: fc.integer({ min: 100, max: 1500 }),
    height: fc.integer({ min: 100, max: 1500 }),
    scale: fc.constant(1),
  });
  fc.assert(
    fc.property(small, (view) => {
      const z = Math.floor(view.zoom);
      const count = 2 ** z;
      const size = worldSizePx(view.zoom) / count;
      const [centerX, centerY] = worldPixel(view.center, view.zoom);
      const expected: string[] = [];
      for (let y = 0; y < count; y++) {
        for (let x = -5 * count; x < 6 * count; x++) {
          const left = x * size - centerX + view.width / 2;
          const top = y * size - centerY + view.height / 2;
          const outside = left >= view.width || left + size <= 0 || top >= view.height || top + size <= 0;
          if (!outside) expected.push(`${((x % count) + count) % count}/${y} ${left.toFixed(3)},${top.toFixed(3)}`);
        }
      }
      const covered = coverTiles(view, z).map((t) => `${t.x}/${t.y} ${t.left.toFixed(3)},${t.top.toFixed(3)}`);
      expect(covered.map((text) => text.replaceAll('-0.000', '0.000'))).toEqual(
        expected.map((text) => text.replaceAll('-0.000', '0.000')),
      );
    }),
  );
});

test('neighbouring tiles have neither gaps nor overlaps', () => {
  fc.assert(
    fc.property(viewport, (view) => {
      fc.pre(view.zoom >= 2);
      const tiles = coverTiles(view, Math.floor(view.zoom));
      for (const [i, tile] of tiles.entries()) {
        const next = tiles[i + 1];
        if (next && next.y === tile.y) expect(next.left).toBeCloseTo(tile.left + tile.sizePx, 5);
      }
    }),
  );
});

test('tiles have the whole zoom below the view, within the zooms of the source', () => {
  const vector = { kind: 'vector', minZoom: 2, maxZoom: 14, tileSizePx: 512 } as const;
  expect([1.9, 2, 2.9, 14.5, 22.3].map((z) => tileZoom(z, vector))).toEqual([null, 2, 2, 14, 14]);
  const raster = { kind: 'raster', minZoom: 0, maxZoom: 19, tileSizePx: 256 } as const;
  expect([0, 0.4, 0.6, 10, 22].map((z) => tileZoom(z, raster))).toEqual([1, 1, 2, 11, 19]);
});
