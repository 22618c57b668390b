import fc from 'fast-check';
import { expect, test } from 'vitest';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import { noImages } from '../sprites/sprite-images.js';
import { draw, type Picture, shapes, viewFrom, wholeTile } from '../testing/pictures.js';
import { bitmapped, imagesOf, plain } from '../testing/sprites.js';
import { type DrawnFeature, rectangle } from '../testing/tiles.js';

const [white, red, blue] = ['#ffffff', '#ff0000', '#0000ff'] as const;

// Five pixels by three, so that no tile's size is a multiple of it.
const hatch = bitmapped(red, '##...', '#....', '....#');
const halfRed = bitmapped(red, ...Array<string>(8).fill(`${'#'.repeat(16)}${'.'.repeat(16)}`));
const upperRed = bitmapped(red, ...Array<string>(10).fill('#'.repeat(20)), ...Array<string>(10).fill('.'.repeat(20)));
const images = await imagesOf({ hatch, blue: plain(blue, 4), wide: halfRed, upper: upperRed });
const doubled = await imagesOf({ hatch }, 2);

const everywhere: DrawnFeature = { type: 'polygon', parts: [rectangle(-160, -160, 4256, 4256)] };
const small = { center: [0, 0] as const, zoom: 2, width: 90, height: 70, scale: 1 };

/** Returns whether the image has this pixel of its own size; x and y of the world. */
const isInk = (x: number, y: number): boolean =>
  ['##...', '#....', '....#'][((y % 3) + 3) % 3]![((x % 5) + 5) % 5] === '#';

function inkOf(picture: Picture): string[] {
  return Array.from({ length: picture.height }, (_, y) =>
    Array.from({ length: picture.width }, (_, x) =>
      picture.at(x, y) === red ? '#' : picture.at(x, y) === white ? '.' : '?',
    ).join(''),
  );
}

test.each([
  ['an area', shapes('fill', { 'fill-pattern': 'hatch' })],
  ['the ground', { type: 'background', paint: { 'background-pattern': 'hatch' } }],
  ['a building', shapes('fill-extrusion', { 'fill-extrusion-pattern': 'hatch' })],
])('the image repeats from the corner of the world, across tiles: %s', async (_what, layer) => {
  // The corner of four tiles is within 30 pixels of the middle.
  const offsets = fc.tuple(fc.integer({ min: -30, max: 30 }), fc.integer({ min: -30, max: 30 }));
  await fc.assert(
    fc.asyncProperty(offsets, async ([dx, dy]) => {
      const [left, top] = [1024 - 45 + dx, 1024 - 35 + dy];
      const picture = await draw([everywhere], [layer], viewFrom(left, top, small), images);
      const expected = Array.from({ length: 70 }, (_, y) =>
        Array.from({ length: 90 }, (_, x) => (isInk(left + x, top + y) ? '#' : '.')).join(''),
      );
      expect(inkOf(picture)).toEqual(expected);
    }),
    { numRuns: propertyRuns(15) },
  );
});

test('an image of double density has the same size and is sharp at scale 2', async () => {
  const layer = shapes('fill', { 'fill-pattern': 'hatch' });
  const view = viewFrom(1000, 1010, small);
  const once = inkOf(await draw([everywhere], [layer], view, images));
  const twice = inkOf(await draw([everywhere], [layer], { ...view, scale: 2 }, doubled));
  const enlarged = once.flatMap((row) => Array(2).fill([...row].flatMap((pixel) => [pixel, pixel]).join('')));
  expect(twice).toEqual(enlarged);
});

test('between whole zooms it grows with the map, without seams between tiles', async () => {
  const zooms = fc.double({ min: 2, max: 2.99, noNaN: true });
  const scales = fc.constantFrom(1, 1.5, 2);
  await fc.assert(
    fc.asyncProperty(zooms, scales, async (zoom, scale) => {
      const corner = 512 * 2 ** (zoom - 1);
      const view = viewFrom(corner - 45, corner - 35, { ...small, zoom, scale });
      // The ground is painted in one go.
      const ground = await draw([], [{ type: 'background', paint: { 'background-pattern': 'hatch' } }], view, images);
      const tiles = await draw([everywhere], [shapes('fill', { 'fill-pattern': 'hatch' })], view, images);
      // The engine's numbers have 24 bits: single pixels differ by a few percent, where a seam would by all.
      expect(tiles.differences(ground, 48)).toBe(0);
    }),
    { numRuns: propertyRuns(30) },
  );
});

test('each feature has its image, and a missing image draws nothing, not even an outline', async () => {
  const area = (left: number, image?: string): DrawnFeature => ({
    type: 'polygon',
    parts: [rectangle(8 * left, 80, 8 * (left + 40), 400)],
    tags: image === undefined ? {} : { image },
  });
  const features = [area(0, 'blue'), area(100, 'hatch'), area(200, 'none'), area(300)];
  const paint = { 'fill-color': 'black', 'fill-outline-color': 'black', 'fill-pattern': ['get', 'image'] };
  const picture = await draw(features, [shapes('fill', paint)], wholeTile, images);
  expect([picture.at(20, 30), picture.at(220, 30), picture.at(320, 30)]).toEqual([blue, white, white]);
  expect([picture.at(200, 30), picture.at(300, 30)]).toEqual([white, white]);
  const half = await draw([features[1]!], [shapes('fill', { 'fill-pattern': 'hatch' })], wholeTile, images);
  expect(half.count(red)).toBeGreaterThan((40 * 40 * 4) / 15 - 60);
});

test('the first existing image of several is used', async () => {
  const area: DrawnFeature = { type: 'polygon', parts: [rectangle(0, 0, 800, 800)], tags: { kind: 'rare' } };
  const pattern = ['coalesce', ['image', ['get', 'kind']], ['image', 'blue']];
  const layer = shapes('fill', { 'fill-pattern': pattern });
  expect((await draw([area], [layer], wholeTile, images)).at(50, 50)).toBe(blue);
  expect((await draw([area], [layer], wholeTile, noImages)).at(50, 50)).toBe(white);
});

test('a pattern has the opacity of its layer and needs no colour', async () => {
  const paint = { 'fill-pattern': 'blue', 'fill-color': 'transparent', 'fill-opacity': 0.2 };
  expect((await draw([everywhere], [shapes('fill', paint)], small, images)).at(5, 5)).toBe('#ccccff');
});

test('a line pattern is as high as the line is wide and rotates with it', async () => {
  const line: DrawnFeature = {
    type: 'line',
    parts: [
      [
        [800, 800],
        [2400, 800],
        [2400, 2400],
      ],
    ],
  };
  const paint = { 'line-width': 16, 'line-pattern': 'wide', 'line-color': 'transparent' };
  const picture = await draw([line], [shapes('line', paint)], wholeTile, images);
  // 32 pixels by 8, at a width of 16: rounds of 64 pixels, of which the first half is red.
  const isRed = (x: number, y: number) => picture.at(x, y) === red;
  expect([106, 126, 138, 158, 170, 190].map((x) => isRed(x, 100))).toEqual([true, true, false, false, true, true]);
  expect([91, 93, 106, 108].map((y) => isRed(110, y))).toEqual([false, true, true, false]);
  // After 200 pixels to the right: eight into a round.
  expect([112, 118, 130, 148, 162].map((y) => isRed(300, y))).toEqual([true, true, false, false, true]);
  expect(
    (await draw([line], [shapes('line', { ...paint, 'line-pattern': 'none' })], wholeTile, images)).count(white),
  ).toBe(512 * 512);
});

// MapLibre GL JS turns the image over, and adds pixels of its repetition at the edges. Before, all pixels differed.
test('the upper edge of a line pattern is at the right, within a border of its lower edge', async () => {
  const picture = await draw(
    [
      {
        type: 'line',
        parts: [
          [
            [800, 800],
            [3200, 800],
          ],
        ],
      },
    ],
    [shapes('line', { 'line-width': 20, 'line-pattern': 'upper' })],
    wholeTile,
    images,
  );
  expect([95, 105].map((y) => picture.at(300, y))).toEqual([white, red]);
  const isReddish = (y: number) => picture.at(300, y) !== white && picture.at(300, y) !== red;
  expect([90, 109].map(isReddish)).toEqual([true, true]);
});

test('a bend in a line pattern has neither gaps nor overlaps', async () => {
  const bends = fc.array(fc.tuple(fc.integer({ min: 60, max: 450 }), fc.integer({ min: 60, max: 450 })), {
    minLength: 3,
    maxLength: 3,
  });
  await fc.assert(
    fc.asyncProperty(bends, async (vertices) => {
      const [a, b, c] = vertices as [[number, number], [number, number], [number, number]];
      const turn = Math.abs(Math.atan2(b[1] - a[1], b[0] - a[0]) - Math.atan2(c[1] - b[1], c[0] - b[0]));
      fc.pre(Math.min(turn, 2 * Math.PI - turn) < 1 && Math.hypot(b[0] - a[0], b[1] - a[1]) > 30);
      fc.pre(Math.hypot(c[0] - b[0], c[1] - b[1]) > 30);
      const line: DrawnFeature = { type: 'line', parts: [vertices.map(([x, y]) => [8 * x, 8 * y] as const)] };
      const patterned = await draw(
        [line],
        [shapes('line', { 'line-width': 12, 'line-pattern': 'blue' })],
        wholeTile,
        images,
      );
      const colored = await draw([line], [shapes('line', { 'line-width': 12, 'line-color': blue })]);
      expect(patterned.differences(colored, 100)).toBeLessThanOrEqual(4);
    }),
    { numRuns: propertyRuns(30) },
  );
});
