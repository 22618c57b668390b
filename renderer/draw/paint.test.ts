import { latest } from '@maplibre/maplibre-gl-style-spec';
import fc from 'fast-check';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import { compileStyle, type StyleLayer } from '../style/compile.js';
import { unsupported } from '../style/unsupported.js';
import { draw, drawSource, type Picture, shapes, styleOf, viewFrom, wholeTile } from '../testing/pictures.js';
import { type DrawnFeature, rectangle, sourceOf, tileBytes, type Vertex } from '../testing/tiles.js';
import { decodeVectorTile } from '../tiles/vector-tile.js';
import type { Viewport } from '../types.js';
import { worldPixel } from '../view/projection.js';
import { BucketStore } from './bucket-store.js';
import { openFrame } from './frame.js';
import { paintLayers } from './paint.js';

// One CSS pixel of the view `wholeTile` is 8 tile units.

const [white, red, green] = ['#ffffff', '#ff0000', '#00ff00'] as const;
/** Black at an opacity of 0.2, once and twice. */
const [shade, shadeTwice] = ['#cccccc', '#a3a3a3'] as const;

function area(left: number, top: number, right: number, bottom: number, tags = {}): DrawnFeature {
  return { type: 'polygon', parts: [rectangle(8 * left, 8 * top, 8 * right, 8 * bottom)], tags };
}

function line(...vertices: Vertex[]): DrawnFeature {
  return { type: 'line', parts: [vertices.map(([x, y]) => [8 * x, 8 * y] as const)] };
}

function dot(x: number, y: number): DrawnFeature {
  return { type: 'point', parts: [[[8 * x, 8 * y]]] };
}

test('a background fills the picture', async () => {
  const picture = await draw(
    [],
    [{ type: 'background', paint: { 'background-color': '#000', 'background-opacity': 0.2 } }],
  );
  expect(picture.count(shade)).toBe(512 * 512);
  expect((await draw([], [])).count(white)).toBe(512 * 512);
});

test('areas are filled without their holes', async () => {
  const hole = [...rectangle(320, 320, 480, 480)].reverse();
  const ring: DrawnFeature = { type: 'polygon', parts: [rectangle(80, 80, 800, 800), hole] };
  const picture = await draw([ring], [shapes('fill', { 'fill-color': red })]);
  expect(picture.count(red)).toBe(90 * 90 - 20 * 20);
  expect([picture.at(10, 10), picture.at(99, 99), picture.at(50, 50), picture.at(9, 9)]).toEqual([
    red,
    red,
    white,
    white,
  ]);
});

// Tiles of the first version of the specification have rings either way round. In one path the two kinds cut each other
// out.
test('overlapping areas are filled in any winding order', async () => {
  const backwards: DrawnFeature = { type: 'polygon', parts: [[...rectangle(400, 400, 800, 800)].reverse()] };
  const picture = await draw([area(10, 10, 70, 70), backwards], [shapes('fill', { 'fill-color': red })]);
  expect(picture.count(red)).toBe(60 * 60 + 50 * 50 - 20 * 20);
});

test('areas have outlines of one device pixel', async () => {
  const picture = await draw(
    [area(10, 10, 100, 100)],
    [shapes('fill', { 'fill-color': red, 'fill-outline-color': '#000000' })],
  );
  expect(picture.at(50, 50)).toBe(red);
  expect(picture.at(10, 50)).toMatch(/#[78].0000/);
  expect(picture.at(9, 50)).toMatch(/#([78].)\1\1/);
});

test('opacity and translation', async () => {
  const picture = await draw(
    [area(10, 10, 20, 20)],
    [shapes('fill', { 'fill-color': '#000', 'fill-opacity': 0.2, 'fill-translate': [5, -3] })],
  );
  expect(picture.count(shade)).toBe(100);
  expect([picture.at(15, 7), picture.at(24, 16)]).toEqual([shade, shade]);
});

test('each feature has its colour, and later features or higher sort keys are on top', async () => {
  const features = [area(10, 10, 50, 50, { c: red, order: 2 }), area(30, 30, 70, 70, { c: green, order: 1 })];
  const paint = { 'fill-color': ['get', 'c'] };
  expect((await draw(features, [shapes('fill', paint)])).at(40, 40)).toBe(green);
  const sorted = await draw(features, [shapes('fill', paint, { layout: { 'fill-sort-key': ['get', 'order'] } })]);
  expect([sorted.at(40, 40), sorted.at(60, 60)]).toEqual([red, green]);
});

test('lines have the requested width and caps', async () => {
  const width = { 'line-color': red, 'line-width': 10 };
  const across = [line([100, 50], [200, 50])];
  const butt = await draw(across, [shapes('line', width)]);
  expect(butt.count(red)).toBe(100 * 10);
  expect([butt.at(100, 45), butt.at(199, 54), butt.at(99, 50), butt.at(150, 44)]).toEqual([red, red, white, white]);
  const square = await draw(across, [shapes('line', width, { layout: { 'line-cap': 'square' } })]);
  expect(square.count(red)).toBe(110 * 10);
  const round = await draw(across, [shapes('line', width, { layout: { 'line-cap': 'round' } })]);
  expect([round.at(96, 50), round.at(95, 45)]).toEqual([red, white]);
});

test('line joins are miter up to the limit, round or bevel', async () => {
  const corner = [line([100, 100], [200, 100], [200, 200])];
  const at = async (join: string, limit = 2) => {
    const layer = shapes(
      'line',
      { 'line-color': red, 'line-width': 20 },
      { layout: { 'line-join': join, 'line-miter-limit': limit } },
    );
    const picture = await draw(corner, [layer]);
    return [picture.at(208, 91), picture.at(206, 94)];
  };
  expect(await at('miter')).toEqual([red, red]);
  expect(await at('miter', 1)).toEqual([white, white]);
  expect(await at('bevel')).toEqual([white, white]);
  expect(await at('round')).toEqual([white, red]);
});

test('line-gap-width draws two lines with a gap', async () => {
  const paint = { 'line-color': red, 'line-width': 3, 'line-gap-width': 10 };
  const picture = await draw([line([0, 100], [512, 100])], [shapes('line', paint)]);
  const column = Array.from({ length: 30 }, (_, i) => (picture.at(256, 85 + i) === red ? '#' : '.')).join('');
  expect(column).toBe('.......###..........###.......');
  expect(picture.count(red)).toBe(2 * 3 * 512);
});

test('the two lines of line-gap-width follow corners and rings', async () => {
  const paint = { 'line-color': red, 'line-width': 2, 'line-gap-width': 8 };
  const picture = await draw([area(100, 100, 200, 200)], [shapes('line', paint)]);
  // The outer square of 112, the inner of 92, each two wide.
  expect(picture.count(red)).toBe(112 * 112 - 108 * 108 + (92 * 92 - 88 * 88));
  expect([picture.at(94, 94), picture.at(104, 104), picture.at(100, 100)]).toEqual([red, red, white]);
});

test('line-offset moves a line to its right, or left if negative', async () => {
  const across = [line([0, 100], [512, 100])];
  const row = async (offset: number) => {
    const picture = await draw(across, [shapes('line', { 'line-color': red, 'line-width': 2, 'line-offset': offset })]);
    return [90, 99, 109].map((y) => picture.at(256, y) === red);
  };
  expect(await row(0)).toEqual([false, true, false]);
  expect(await row(10)).toEqual([false, false, true]);
  expect(await row(-10)).toEqual([true, false, false]);
});

// Nothing was drawn of these lines: a dash without a length got no caps.
test.each([
  ['plain', {}],
  ['blurred', { 'line-blur': 1 }],
  ['moved', { 'line-offset': 0.001 }],
] as const)('dashes without a length are dots if their caps are round: %s', async (_name, more) => {
  const paint = { 'line-color': red, 'line-width': 10, 'line-dasharray': [0, 2], ...more };
  const dotted = [line([100, 256], [400, 256])];
  const dots = await draw(dotted, [shapes('line', paint, { layout: { 'line-cap': 'round' } })]);
  for (const x of [100, 120, 140, 380]) expect(dots.at(x, 256)).toBe(red);
  for (const x of [110, 130, 390]) expect(dots.at(x, 256)).toBe(white);
  const nothing = await draw(dotted, [shapes('line', paint)]);
  expect(nothing.count(white)).toBe(512 * 512);
});

// Such lines were solid. MapLibre GL JS draws nothing of them.
test.each([[[]], [[0]], [[0, 0]], [['literal', []]]])(
  'a line with a pattern without a length is not drawn: %j',
  async (pattern) => {
    const paint = { 'line-color': red, 'line-width': 10, 'line-dasharray': pattern };
    for (const cap of ['butt', 'round']) {
      const picture = await draw(
        [line([100, 50], [200, 50])],
        [shapes('line', paint, { layout: { 'line-cap': cap } })],
      );
      expect(picture.count(white)).toBe(512 * 512);
    }
  },
);

test('dashes are measured in line widths', async () => {
  const paint = { 'line-color': red, 'line-width': 4, 'line-dasharray': [3, 2] };
  const picture = await draw([line([100, 50], [300, 50])], [shapes('line', paint)]);
  const row = Array.from({ length: 45 }, (_, i) => (picture.at(95 + i, 50) === red ? '#' : '.')).join('');
  expect(row).toBe('.....############........############........');
});

test('circles have a stroke', async () => {
  const paint = { 'circle-color': red, 'circle-radius': 10, 'circle-stroke-color': green, 'circle-stroke-width': 4 };
  const picture = await draw([dot(100, 100)], [shapes('circle', paint)]);
  expect([100, 108, 111, 112, 115].map((x) => picture.at(x, 100))).toEqual([red, red, green, green, white]);
});

/** Returns how many pixels black shapes cover, in shares of pixels. */
const coveredBy = ({ pixels }: { readonly pixels: Uint8Array }): number =>
  pixels.reduce((sum, value) => sum + (255 - value), 0) / (3 * 255);

// MapLibre GL JS draws the edge inside the radius. Circles were larger by half a pixel on each side.
test.each([5, 10, 20])('the edge of a circle of %s pixels lies inside its radius', async (radius) => {
  const picture = await draw([dot(100, 100)], [shapes('circle', { 'circle-color': '#000', 'circle-radius': radius })]);
  // The area under an edge that fades smoothly over the last pixel.
  const area = Math.PI * ((radius - 0.5) ** 2 + 0.05);
  expect(coveredBy(picture) / area).toBeCloseTo(1, 1);
});

test('nothing shows through between a circle and its opaque stroke', async () => {
  const paint = { 'circle-color': '#000', 'circle-radius': 10, 'circle-stroke-width': 4 };
  const [stroked, plain] = [
    await draw([dot(100, 100)], [shapes('circle', paint)]),
    await draw([dot(100, 100)], [shapes('circle', { 'circle-color': '#000', 'circle-radius': 14 })]),
  ];
  expect(stroked.differences(plain, 24)).toBe(0);
});

test('a circle on the edge of two tiles is drawn completely and once', async () => {
  const source = sourceOf(async (_zoom, x) =>
    tileBytes({ shapes: [{ type: 'point', parts: [[[x === 0 ? 4096 : 0, 2048]]] }] }),
  );
  const view = { ...wholeTile, zoom: 1, center: [0, 66] as const, width: 100, height: 100 };
  const picture = await drawSource(
    source,
    [shapes('circle', { 'circle-color': '#000', 'circle-radius': 20, 'circle-opacity': 0.2 })],
    view,
  );
  const whole = Math.PI * 20 * 20;
  expect(picture.count(shade)).toBeGreaterThan(0.9 * whole);
  expect(picture.count(shadeTwice)).toBe(0);
});

test('circles centred outside the view reach into it, from tiles beside it too', async () => {
  const radii = [5, 20, 60];
  const source = sourceOf(async (_zoom, x, y) =>
    tileBytes({
      shapes: radii.map((r, i) => ({ ...dot(100 + 150 * i, (170 * (x + 2 * y + i)) % 512), tags: { r } })),
    }),
  );
  const layers = (radius: unknown) => [shapes('circle', { 'circle-color': '#000', 'circle-radius': radius })];
  const large = viewFrom(300, 300, { ...wholeTile, zoom: 2, width: 800, height: 800 });
  for (const radius of [50, ['get', 'r'], ['interpolate', ['linear'], ['zoom'], 0, 2, 4, 90]]) {
    const whole = await drawSource(source, layers(radius), large);
    const offsets = fc.tuple(fc.integer({ min: 130, max: 560 }), fc.integer({ min: 130, max: 560 }));
    await fc.assert(
      fc.asyncProperty(offsets, async ([left, top]) => {
        const view = viewFrom(300 + left, 300 + top, { ...wholeTile, zoom: 2, width: 100, height: 100 });
        const part = await drawSource(source, layers(radius), view);
        let differing = 0;
        for (let y = 0; y < 100; y++) {
          // At the right edge of a picture the drawing engine cuts curves, and smooths them otherwise.
          for (let x = 0; x < 100; x++) if (!near(part.at(x, y), whole.at(left + x, top + y), 127)) differing++;
        }
        expect(differing).toBe(0);
      }),
      { numRuns: 6 },
    );
  }
});

test('a blurred circle is brightest in its middle and stays inside its radius', async () => {
  const paint = { 'circle-color': '#000', 'circle-radius': 20, 'circle-blur': 1 };
  const picture = await draw([dot(100, 100)], [shapes('circle', paint)]);
  const shades = [100, 105, 110, 115, 119].map((x) => Number.parseInt(picture.at(x, 100).slice(1, 3), 16));
  expect(shades).toEqual(shades.toSorted((a, b) => a - b));
  expect(shades[0]).toBeLessThan(10);
  expect(picture.at(121, 100)).toBe(white);
});

test('buildings show their footprints and edges from above, taller parts on top, with one opacity', async () => {
  const tall = area(20, 20, 40, 40, { height: 50, c: red });
  const low = area(30, 30, 60, 60, { height: 5, c: green });
  const paint = { 'fill-extrusion-color': ['get', 'c'], 'fill-extrusion-height': ['get', 'height'] };
  const opaque = await draw([tall, low], [shapes('fill-extrusion', paint)]);
  expect([opaque.at(25, 25), opaque.at(35, 35), opaque.at(50, 50)]).toEqual([red, red, green]);
  expect(opaque.at(50, 59)).toMatch(/#00[d-f].00/);
  expect(opaque.at(50, 59)).not.toBe(green);
  const faint = await draw([tall, low], [shapes('fill-extrusion', { ...paint, 'fill-extrusion-opacity': 0.2 })]);
  expect([faint.at(25, 25), faint.at(35, 35), faint.at(50, 50)]).toEqual(['#ffcccc', '#ffcccc', '#ccffcc']);
});

test('the opacity of a layer applies to it as a whole', async () => {
  const crossing = [line([50, 100], [150, 100]), line([100, 50], [100, 150])];
  const lines = await draw(crossing, [
    shapes('line', { 'line-color': '#000', 'line-width': 10, 'line-layer-opacity': 0.2 }),
  ]);
  expect([lines.count(shade), lines.count(shadeTwice)]).toEqual([10 * 100 + 10 * 100 - 10 * 10, 0]);
  const areas = [area(10, 10, 50, 50, { order: 1 }), area(30, 30, 70, 70, { order: 2 })];
  const fills = await draw(areas, [shapes('fill', { 'fill-color': '#000', 'fill-layer-opacity': 0.2 })]);
  expect(fills.count(shade)).toBe(2 * 40 * 40 - 20 * 20);
  const layers = [
    shapes('line', { 'line-width': 10, 'line-color': '#000', 'line-layer-opacity': 0.2 }),
    shapes('line', { 'line-width': 10, 'line-color': '#000', 'line-layer-opacity': 0.2 }),
  ];
  expect((await draw([line([50, 100], [150, 100])], layers)).at(100, 100)).toBe(shadeTwice);
});

test('line-blur softens the edges inside the width of a line', async () => {
  const across = [line([0, 100], [512, 100])];
  const picture = await draw(across, [shapes('line', { 'line-width': 30, 'line-color': '#000', 'line-blur': 10 })]);
  const shades = [100, 106, 108, 110, 112, 116].map((y) => Number.parseInt(picture.at(200, y).slice(1, 3), 16));
  expect(shades).toEqual(shades.toSorted((a, b) => a - b));
  expect([shades[0]! < 8, shades[3]! > 90 && shades[3]! < 165, shades[5]! > 240]).toEqual([true, true, true]);
});

test('line-gradient runs along a line, around its corners', async () => {
  const bent = [line([100, 100], [200, 100], [200, 200])];
  const gradient = ['interpolate', ['linear'], ['line-progress'], 0, '#ff0000', 0.5, '#00ff00', 1, '#0000ff'];
  const picture = await draw(bent, [shapes('line', { 'line-width': 10, 'line-gradient': gradient })]);
  expect(near(picture.at(101, 100), red)).toBe(true);
  expect(near(picture.at(150, 100), '#808000')).toBe(true);
  expect(near(picture.at(197, 100), green)).toBe(true);
  expect(near(picture.at(200, 150), '#008080')).toBe(true);
  expect(near(picture.at(200, 198), '#0000ff')).toBe(true);
  expect([picture.at(150, 94), picture.at(150, 106)]).toEqual([white, white]);
});

// Joins were all drawn as miters, or as nothing in sharp corners, and ends without caps.
test('a gradient of one colour covers what a line of that colour covers', async () => {
  const gradient = ['interpolate', ['linear'], ['line-progress'], 0, red, 1, red];
  const place = fc.tuple(fc.integer({ min: 100, max: 400 }), fc.integer({ min: 100, max: 400 }));
  const layout = fc.record({
    'line-cap': fc.constantFrom('butt', 'round', 'square'),
    'line-join': fc.constantFrom('bevel', 'round', 'miter'),
    'line-miter-limit': fc.double({ min: 1, max: 4, noNaN: true }),
  });
  const vertices = fc.uniqueArray(place, { minLength: 2, maxLength: 4, comparator: isWithinTen });
  await fc.assert(
    fc.asyncProperty(vertices, layout, fc.integer({ min: 2, max: 30 }), async (places, layout, width) => {
      const layers = [{ 'line-color': red }, { 'line-gradient': gradient }].map((paint) =>
        shapes('line', { 'line-width': width, ...paint }, { layout }),
      );
      const [plain, graded] = await Promise.all(layers.map((layer) => draw([line(...places)], [layer])));
      // In the corner of a narrow angle, the plain line covers a few pixels more.
      expect(differencesBesideEdges(graded!, plain!)).toBeLessThan(8);
    }),
    { numRuns: propertyRuns(25) },
  );
});

/** Counts pixels that differ visibly where the picture has one colour all around: edges are antialiased otherwise. */
function differencesBesideEdges(picture: Picture, other: Picture): number {
  const steps = [-1, 0, 1];
  const green = ({ pixels, width }: Picture, x: number, y: number) => pixels[3 * (y * width + x) + 1]!;
  let count = 0;
  for (let y = 1; y < picture.height - 1; y++) {
    for (let x = 1; x < picture.width - 1; x++) {
      const level = green(other, x, y);
      if (Math.abs(green(picture, x, y) - level) <= 32) continue;
      if (steps.every((dy) => steps.every((dx) => green(other, x + dx, y + dy) === level))) count++;
    }
  }
  return count;
}

// Joints of sharp turns are flat: an overlap along the segment left a seam. They reach farther back than a short
// segment, which left a hole.
test('a gradient has neither seams nor holes at sharp turns', async () => {
  const gradient = ['interpolate', ['linear'], ['line-progress'], 0, red, 1, red];
  const turns: Vertex[][] = [
    [
      [100, 106],
      [196, 100],
      [155, 120],
    ],
    [
      [112, 121],
      [177, 126],
      [157, 131],
    ],
    [
      [133, 106],
      [109, 174],
      [130, 148],
      [158, 172],
    ],
  ];
  for (const places of turns) {
    const [plain, graded] = await Promise.all(
      [{ 'line-color': red }, { 'line-gradient': gradient }].map((paint) =>
        draw([line(...places)], [shapes('line', { 'line-width': 28, ...paint })]),
      ),
    );
    expect(plain!.count(red)).toBeGreaterThan(1_000);
    expect(graded!.count(red)).toBeGreaterThan(0.99 * plain!.count(red));
  }
});

const isWithinTen = ([x, y]: Vertex, [otherX, otherY]: Vertex): boolean => Math.hypot(x - otherX, y - otherY) < 10;

test('a layer with a missing pattern is not drawn', async () => {
  const layers = [
    shapes('fill', { 'fill-pattern': 'dots' }),
    { type: 'background', paint: { 'background-pattern': 'dots' } },
  ];
  expect((await draw([area(10, 10, 20, 20)], layers)).count(white)).toBe(512 * 512);
});

test('raster tiles touch without seams', async () => {
  const tile = await sharp({ create: { width: 256, height: 256, channels: 3, background: red } })
    .png()
    .toBuffer();
  const source = sourceOf(async () => tile, { kind: 'raster', tileSizePx: 256, maxZoom: 19 });
  const layer = { type: 'raster', source: 'tiles', paint: { 'raster-opacity': 0.2 } };
  const view = { ...wholeTile, zoom: 3.37, center: [12, 34] as const, scale: 1.5 };
  expect((await drawSource(source, [layer], view)).count('#ffcccc')).toBe(768 * 768);
});

test('a translucent area across many tiles shows no seams, at any zoom and scale', async () => {
  const everywhere = area(-20, -20, 540, 540);
  const paint = { 'fill-color': '#000', 'fill-opacity': 0.2 };
  const zooms = fc.double({ min: 1.2, max: 14, noNaN: true });
  const scales = fc.double({ min: 1, max: 3, noNaN: true });
  await fc.assert(
    fc.asyncProperty(zooms, scales, fc.double({ min: -180, max: 180, noNaN: true }), async (zoom, scale, longitude) => {
      const view = { center: [longitude, 10] as const, zoom, width: 150, height: 110, scale };
      const picture = await draw([everywhere], [shapes('fill', paint)], view);
      expect(picture.count(shade)).toBe(picture.width * picture.height);
    }),
    { numRuns: propertyRuns(40) },
  );
});

test('the world repeats to the east and west, and its first and last rows continue beyond the poles', async () => {
  const view = { center: [180, 0] as const, zoom: 0, width: 1200, height: 600, scale: 1 };
  const north = area(-20, -20, 540, 256);
  const picture = await draw([north], [shapes('fill', { 'fill-color': red })], view);
  expect(picture.count(red)).toBe(1200 * 300);
  expect([picture.at(600, 0), picture.at(600, 299), picture.at(600, 300), picture.at(600, 599)]).toEqual([
    red,
    red,
    white,
    white,
  ]);
});

const scenery = [
  area(50, 60, 220, 180, { c: 'a' }),
  area(200, 150, 400, 420, { c: 'b' }),
  line([20, 30], [300, 200], [250, 480], [30, 400]),
  line([480, 10], [400, 250], [490, 500]),
  dot(150, 300),
  dot(380, 80),
];
const sceneryStyle = [
  { type: 'background', paint: { 'background-color': '#eeeeee' } },
  shapes('fill', { 'fill-color': ['match', ['get', 'c'], 'a', '#88cc88', '#8888cc'], 'fill-outline-color': '#333333' }),
  shapes(
    'line',
    { 'line-width': 3, 'line-gap-width': 12, 'line-color': '#aa5500' },
    { layout: { 'line-join': 'round' } },
  ),
  shapes(
    'line',
    { 'line-width': 4, 'line-color': '#0055aa', 'line-dasharray': [2, 1.5] },
    { layout: { 'line-cap': 'round' } },
  ),
  shapes('line', { 'line-width': 2, 'line-color': '#dd0000', 'line-offset': 15 }),
  shapes('circle', {
    'circle-radius': 14,
    'circle-color': '#ffffff',
    'circle-stroke-width': 3,
    'circle-stroke-color': '#000000',
  }),
];

test('a part of a map equals the same part of the whole, including dashes, offsets and outlines', async () => {
  const whole = await draw(scenery, sceneryStyle);
  // Beside the poles, whose rows are repeated.
  const corners = fc.tuple(fc.integer({ min: 0, max: 390 }), fc.integer({ min: 3, max: 388 }));
  await fc.assert(
    fc.asyncProperty(corners, async ([left, top]) => {
      const view = viewFrom(left, top, { ...wholeTile, width: 120, height: 120 });
      const part = await draw(scenery, sceneryStyle, view);
      let differing = 0;
      for (let y = 0; y < 120; y++) {
        for (let x = 0; x < 120; x++) if (!near(part.at(x, y), whole.at(left + x, top + y))) differing++;
      }
      expect(differing).toBeLessThanOrEqual(2);
    }),
    { numRuns: propertyRuns(25) },
  );
});

/** Equal but for how smooth edges come out, which differs where a shape is cut off. */
function near(a: string, b: string, tolerance = 80): boolean {
  const channels = (color: string) => [1, 3, 5].map((i) => Number.parseInt(color.slice(i, i + 2), 16));
  const other = channels(b);
  return channels(a).every((value, i) => Math.abs(value - other[i]!) <= tolerance);
}

test('a map that is too large to be painted at once has no seam', async () => {
  const large = { ...wholeTile, width: 1100, height: 1100, zoom: 1.1 };
  const whole = await draw(scenery, sceneryStyle, large);
  const part = await draw(scenery, sceneryStyle, viewFrom(...cornerOf(large), { ...large, height: 1000 }));
  // Without the rows where shapes are cut off.
  const rows = whole.pixels.subarray(0, 3 * 1100 * 980);
  expect(rows.filter((value, i) => Math.abs(value - part.pixels[i]!) > 2).length).toBe(0);
});

/** Returns the pixel of the world in the upper left corner of a view. */
function cornerOf({ center, zoom, width, height }: Viewport): [left: number, top: number] {
  const [x, y] = worldPixel(center, zoom);
  return [x - width / 2, y - height / 2];
}

test('a scale of two is the same map with twice the pixels', async () => {
  const once = await draw(scenery, sceneryStyle);
  const twice = await draw(scenery, sceneryStyle, { ...wholeTile, scale: 2 });
  expect([twice.width, twice.height]).toEqual([1024, 1024]);
  const { data } = await sharp(twice.pixels, { raw: { width: 1024, height: 1024, channels: 3 } })
    .resize(512, 512, { kernel: 'linear' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  let differing = 0;
  for (let i = 0; i < data.length; i++) if (Math.abs(data[i]! - once.pixels[i]!) > 96) differing++;
  expect(differing / data.length).toBeLessThan(0.002);
});

test('a tile enlarged 256 times is sharp, including dashes', async () => {
  const source = sourceOf(async () => tileBytes({ shapes: [line([0, 256], [512, 256])] }), { maxZoom: 14 });
  const paint = { 'line-color': red, 'line-width': 10, 'line-dasharray': [2, 1] };
  const tile = 512 * 2 ** 8;
  const view = viewFrom(8192.3 * tile, 8192.5 * tile - 50, {
    center: [0, 0],
    zoom: 22,
    width: 300,
    height: 100,
    scale: 1,
  });
  const picture = await drawSource(source, [shapes('line', paint)], view);
  expect(picture.count(red)).toBeGreaterThan(10 * 180);
  expect(picture.count(red)).toBeLessThan(10 * 220);
  expect([picture.at(150, 44), picture.at(150, 55)]).toEqual([white, white]);
});

// At these zooms a line of two pixels is a hundred-thousandth of its tile wide, less than what the engine's numbers can
// tell apart.
test.each([18, 21, 23])('lines and dots of a tile of zoom 6 keep their size at zoom %i', async (zoom) => {
  const source = sourceOf(async () => tileBytes({ shapes: [line([0, 0], [512, 512]), area(100, 300, 200, 500)] }), {
    maxZoom: 6,
  });
  const tile = 512 * 2 ** (zoom - 6);
  const view = (x: number, y: number) =>
    viewFrom(x * tile - 50, y * tile - 50, { center: [0, 0], zoom, width: 100, height: 100, scale: 1 });
  const diagonal = await drawSource(
    source,
    [shapes('line', { 'line-color': red, 'line-width': 3 })],
    view(32.37, 32.37),
  );
  const covered = Array.from({ length: 100 }, (_, y) => 1 - Number.parseInt(diagonal.at(50, y).slice(3, 5), 16) / 255);
  expect(covered.reduce((sum, share) => sum + share)).toBeCloseTo(3 * Math.SQRT2, 1);
  const outline = await drawSource(source, [shapes('line', { 'line-width': 4 })], view(32 + 100 / 512, 32 + 400 / 512));
  expect(outline.count('#000000')).toBe(400);
  const dots = await drawSource(
    sourceOf(async () => tileBytes({ shapes: [dot(300, 200)] }), { maxZoom: 6 }),
    [shapes('circle', { 'circle-radius': 10 })],
    view(32 + 300 / 512, 32 + 200 / 512),
  );
  expect(Math.abs(dots.count('#000000') - Math.PI * 9.5 ** 2)).toBeLessThan(60);
});

test('every property is either read by a painter or reported as unsupported', () => {
  const noDifference = [
    ...[
      'fill-translate-anchor',
      'line-translate-anchor',
      'line-round-limit',
      'circle-translate-anchor',
      'circle-pitch-alignment',
    ],
    ...['circle-pitch-scale', 'raster-fade-duration', 'resampling', 'fill-extrusion-translate-anchor'],
    'fill-extrusion-vertical-gradient',
  ];
  const features: DrawnFeature[] = [area(0, 0, 9, 9), line([0, 0], [9, 9]), dot(5, 5)];
  const bytes = tileBytes({ shapes: features });
  for (const type of ['background', 'fill', 'line', 'circle', 'raster', 'fill-extrusion'] as const) {
    const read = new Set<string>();
    const style = compileStyle(styleOf([shapes(type, {})]));
    const layers = style.layers.map(
      (layer): StyleLayer => ({
        ...layer,
        property(name) {
          read.add(name);
          return layer.property(name);
        },
      }),
    );
    const place = { zoom: 0, x: 0, y: 0, left: 0, top: 0, sizePx: 512 };
    const tiles = new Map([
      ['tiles', [{ place, tile: { kind: 'vector' as const, key: '', tile: decodeVectorTile(bytes) } }]],
    ]);
    paintLayers(openFrame(wholeTile, tiles), { layers }, new BucketStore(1e6));

    for (const group of ['paint', 'layout'] as const) {
      for (const name of Object.keys(latest[`${group}_${type}`])) {
        if (name === 'visibility') continue;
        const asking = styleOf([{ type, source: 'tiles', [group]: { [name]: 'a value like no other' } }]);
        const told = unsupported(asking).some((each) => each.property === name);
        if (name.endsWith('-pattern')) expect(told && read.has(name), name).toBe(true);
        expect(told || read.has(name) || noDifference.includes(name), `${name} is neither read nor told`).toBe(true);
      }
    }
  }
});
