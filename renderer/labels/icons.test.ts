import { latest } from '@maplibre/maplibre-gl-style-spec';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import type { Frame } from '../draw/frame.js';
import { bytesOf } from '../pixels.js';
import type { StyleLayer } from '../style/compile.js';
import { unsupported } from '../style/unsupported.js';
import { Picture, styleOf, wholeTile } from '../testing/pictures.js';
import { imagesOf, plain } from '../testing/sprites.js';
import { type DrawnFeature, rectangle, type Vertex } from '../testing/tiles.js';
import type { PixelBox } from '../types.js';
import type { PlacedLabel } from './label.js';
import { frameOf, labelsOf, paintLabels, symbolStyle } from './testing/frames.js';
import { intersect } from './testing/styles.js';

// One CSS pixel of the view `wholeTile` is 8 tile units.

const [white, red, green, blue] = ['#ffffff', '#ff0000', '#00ff00', '#0000ff'] as const;

/** An image with a direction: its right half is red. */
const arrow = {
  width: 20,
  height: 10,
  paint(context: Parameters<ReturnType<typeof plain>['paint']>[0]) {
    context.fillStyle = blue;
    context.fillRect(0, 0, 10, 10);
    context.fillStyle = red;
    context.fillRect(10, 0, 10, 10);
  },
};
const images = await imagesOf({
  shop: plain(red, 20),
  'museum-15': plain(green, 16),
  arrow,
  wide: plain(blue, 40, 10),
});

const pointAt = (x: number, y: number, tags: DrawnFeature['tags'] = {}): DrawnFeature => ({
  type: 'point',
  parts: [[[8 * x, 8 * y]]],
  tags,
});
const lineOf = (tags: NonNullable<DrawnFeature['tags']>, ...vertices: Vertex[]): DrawnFeature => ({
  type: 'line',
  parts: [vertices.map(([x, y]) => [8 * x, 8 * y] as const)],
  tags,
});

const frameWith = (features: readonly DrawnFeature[], scale = 1) =>
  frameOf({ ...wholeTile, scale }, 0, () => features, images);

function placed(
  features: readonly DrawnFeature[],
  layout: object,
  paint: object = {},
  keepFree: readonly PixelBox[] = [],
) {
  return labelsOf(frameWith(features), symbolStyle([layout], paint), keepFree, 'en');
}

const pictureOf = ({ surface }: Frame, width: number, height: number): Picture =>
  new Picture(
    Uint8Array.from(bytesOf(surface.pixels)).filter((_, i) => i % 4 !== 3),
    width,
    height,
  );

function painted(features: readonly DrawnFeature[], layout: object, paint: object = {}, scale = 1): Picture {
  const frame = frameWith(features, scale);
  paintLabels(frame, symbolStyle([layout], paint));
  const { width, height } = frame.surface;
  return pictureOf(frame, width, height);
}

/** Returns the bounding box of all pixels of a colour: left, top, right, bottom. */
function boxOf(picture: Picture, color: string): number[] {
  const box = [Infinity, Infinity, -Infinity, -Infinity];
  for (let y = 0; y < picture.height; y++) {
    for (let x = 0; x < picture.width; x++) {
      if (picture.at(x, y) !== color) continue;
      box.splice(0, 4, Math.min(box[0]!, x), Math.min(box[1]!, y), Math.max(box[2]!, x + 1), Math.max(box[3]!, y + 1));
    }
  }
  return box;
}

// The symbol of the lowest key, or the first of the tile, was on top whatever the style said.
test.each([
  ['higher keys', { 'symbol-sort-key': ['get', 'key'] }, red],
  ['lower places', {}, blue],
  ['lower places, whatever their keys', { 'symbol-sort-key': ['get', 'key'], 'symbol-z-order': 'viewport-y' }, blue],
  ['later features', { 'symbol-z-order': 'source' }, green],
])('of symbols that may overlap, those with %s are above others', (_name, layout, color) => {
  const features = [
    pointAt(100, 100, { icon: 'shop', key: 3 }),
    pointAt(100, 103, { icon: 'wide', key: 1 }),
    pointAt(100, 97, { icon: 'museum-15', key: 2 }),
  ];
  for (const overlap of [{ 'icon-allow-overlap': true }, { 'icon-overlap': 'always' }])
    expect(painted(features, { ...layout, ...overlap, 'icon-image': ['get', 'icon'] }).at(100, 100)).toBe(color);
});

const iconsOf = (labels: readonly PlacedLabel[]) =>
  labels.map(({ placement }) => placement.icon?.paint.image.name ?? null);
const shop = { 'icon-image': 'shop' };

test.each([
  ['a name', 'shop', 'shop'],
  ['tokens', '{kind}-15', 'museum-15'],
  ['an expression', ['concat', ['get', 'kind'], '-15'], 'museum-15'],
  ['an image', ['image', 'shop'], 'shop'],
  [
    'the first existing image of several',
    ['coalesce', ['image', ['get', 'kind']], ['image', 'none'], ['image', 'shop']],
    'shop',
  ],
  ['a step expression of zoom', ['step', ['zoom'], 'shop', 5, 'wide'], 'shop'],
  ['a missing image', 'none', null],
  ['an empty name', ['case', ['has', 'rare'], 'shop', ''], null],
])('icon-image as %s', (_what, image, name) => {
  const labels = placed([pointAt(100, 100, { kind: 'museum' })], { 'icon-image': image, 'text-field': 'x' });
  expect(iconsOf(labels)).toEqual([name]);
});

test('an icon without text is centred on its point in its own size', () => {
  const picture = painted([pointAt(100, 100)], shop);
  expect(boxOf(picture, red)).toEqual([90, 90, 110, 110]);
  expect(picture.count(red)).toBe(400);
  expect(boxOf(painted([pointAt(100, 100)], shop, {}, 2), red)).toEqual([180, 180, 220, 220]);
});

test.each([
  [{ 'icon-size': 2 }, {}, [80, 80, 120, 120]],
  [{ 'icon-anchor': 'bottom-left' }, {}, [100, 80, 120, 100]],
  [{ 'icon-offset': [10, -5], 'icon-size': 2 }, {}, [100, 70, 140, 110]],
  [{}, { 'icon-translate': [7, 3], 'text-translate': [50, 50] }, [97, 93, 117, 113]],
])('layout %j and paint %j position the icon', (layout, paint, box) => {
  expect(boxOf(painted([pointAt(100, 100)], { ...shop, ...layout }, paint), red)).toEqual(box);
});

test('rotation includes the offset, and opacity applies', () => {
  const turned = { 'icon-image': 'arrow', 'icon-rotate': 90, 'icon-anchor': 'left', 'icon-offset': [10, 0] };
  const picture = painted([pointAt(100, 100)], turned);
  expect([picture.at(100, 115), picture.at(100, 125), picture.at(115, 100)]).toEqual([blue, red, white]);
  expect(painted([pointAt(100, 100)], shop, { 'icon-opacity': 0.2 }).at(100, 100)).toBe('#ffcccc');
});

test('text and icon are placed together or not at all, unless one is optional', () => {
  const pair = { ...shop, 'text-field': 'Shop', 'text-anchor': 'top', 'text-offset': [0, 1] };
  const onIcon = { minX: 95, minY: 95, maxX: 105, maxY: 105 };
  const onText = { minX: 95, minY: 120, maxX: 105, maxY: 125 };
  const set = (layout: object, keepFree: PixelBox[]) =>
    placed([pointAt(100, 100)], { ...pair, ...layout }, {}, keepFree).map(({ placement }) => {
      return `${placement.icon ? 'icon' : ''} ${placement.runs.map(({ text }) => text).join()}`;
    });
  expect(set({}, [])).toEqual(['icon Shop']);
  expect([set({}, [onIcon]), set({}, [onText])]).toEqual([[], []]);
  expect([set({ 'icon-optional': true }, [onIcon]), set({ 'icon-optional': true }, [onText])]).toEqual([[' Shop'], []]);
  expect([set({ 'text-optional': true }, [onIcon]), set({ 'text-optional': true }, [onText])]).toEqual([[], ['icon ']]);
});

test('icons collide according to padding and overlap', () => {
  const row = [100, 123, 146].map((x) => pointAt(x, 100));
  expect(placed(row, shop)).toHaveLength(2);
  expect(placed(row, { ...shop, 'icon-padding': 1 })).toHaveLength(3);
  expect(placed(row, { ...shop, 'icon-padding': [0, 4, 0, 0] })).toHaveLength(2);
  const same = [pointAt(100, 100), pointAt(100, 100)];
  expect(placed(same, shop)).toHaveLength(1);
  expect(placed(same, { ...shop, 'icon-allow-overlap': true })).toHaveLength(2);
  expect(placed(same, { ...shop, 'icon-overlap': 'cooperative' })).toHaveLength(2);
  expect(placed(same, { ...shop, 'icon-ignore-placement': true })).toHaveLength(2);
});

test('icons without text are not merged, however near', () => {
  const area = (left: number): DrawnFeature => ({ type: 'polygon', parts: [rectangle(left, 800, left + 400, 1200)] });
  expect(placed([area(400), area(1200), area(2000)], shop)).toHaveLength(3);
});

test('icons along a line have the spacing of the style and rotate with the line', () => {
  const down = lineOf({}, [100, 50], [100, 450]);
  const along = { 'icon-image': 'arrow', 'symbol-placement': 'line', 'symbol-spacing': 100 };
  const labels = placed([down], along);
  expect(labels.length).toBeGreaterThan(2);
  const places = labels.map(({ placement }) => placement.icon!.y).sort((a, b) => a - b);
  for (const [i, y] of places.entries()) if (i > 0) expect(y - places[i - 1]!).toBeGreaterThanOrEqual(100);
  const { x, y } = labels[0]!.placement.icon!;
  const ends = (layout: object, line = down) => {
    const picture = painted([line], { ...along, ...layout });
    return [picture.at(x, Math.round(y) - 8), picture.at(x, Math.round(y) + 8)];
  };
  expect(ends({})).toEqual([blue, red]);
  expect(ends({}, lineOf({}, [100, 450], [100, 50]))).toEqual([red, blue]);
  expect(ends({ 'icon-rotation-alignment': 'viewport' })).toEqual([white, white]);
});

test('icon-keep-upright prevents upside-down icons', () => {
  const leftwards = lineOf({}, [450, 100], [50, 100]);
  const along = { 'icon-image': 'arrow', 'symbol-placement': 'line-center' };
  const at = (layout: object) => painted([leftwards], { ...along, ...layout }).at(255, 100);
  expect([at({}), at({ 'icon-keep-upright': true })]).toEqual([blue, red]);
});

test('road numbers are centred in their shields, horizontal on the line', () => {
  const road = lineOf({ name: 'A 1' }, [50, 50], [450, 450]);
  const shield = { 'icon-image': 'wide', 'symbol-placement': 'line', 'text-rotation-alignment': 'viewport' };
  const labels = placed([road], { ...shield, 'icon-rotation-alignment': 'viewport', 'symbol-spacing': 200 });
  expect(labels.length).toBeGreaterThan(1);
  for (const { placement } of labels) {
    expect(placement.icon).toMatchObject({ angle: 0, x: placement.runs[0]!.x, y: placement.runs[0]!.y });
  }
});

test.each(['none', 'width', 'both'])('icon-text-fit: %s', (fit) => {
  const layout = { ...shop, 'text-field': 'Shop', 'icon-text-fit': fit, 'icon-text-fit-padding': [1, 2, 3, 4] };
  const { icon, rectangle } = placed([pointAt(250, 250)], layout)[0]!.placement;
  const [width, height] = [icon!.columns.length, icon!.rows.length];
  expect(width).toBeCloseTo(fit === 'none' ? 20 : rectangle!.width + 6);
  expect(height).toBeCloseTo(fit === 'both' ? rectangle!.height + 4 : 20);
  expect(icon!.x).toBeCloseTo(fit === 'none' ? 250 : 249);
  expect(icon!.y).toBeCloseTo(fit === 'both' ? 251 : 250);
});

test('a stretchable image keeps the size of its fixed parts', async () => {
  const frames = { stretchX: [[4, 12]], stretchY: [[4, 12]], content: [4, 4, 12, 12] };
  const bordered = {
    ...plain(blue, 16, 16, frames),
    paint(context: Parameters<ReturnType<typeof plain>['paint']>[0]) {
      plain(blue, 16).paint(context);
      context.fillStyle = red;
      context.fillRect(4, 4, 8, 8);
    },
  };
  const shields = await imagesOf({ bordered });
  const frame = frameOf(wholeTile, 0, () => [pointAt(250, 250)], shields);
  const layout = {
    'icon-image': 'bordered',
    'text-field': 'A long name',
    'icon-text-fit': 'both',
    'text-max-width': 50,
  };
  const style = symbolStyle([layout], { 'text-opacity': 0.004 });
  const { columns, rows } = labelsOf(frame, style, [], 'en')[0]!.placement.icon!;
  paintLabels(frame, style);
  const picture = pictureOf(frame, 512, 512);
  const [left, top, right, bottom] = boxOf(picture, blue) as [number, number, number, number];
  expect([right - left, bottom - top]).toEqual([Math.round(columns.length), Math.round(rows.length)]);
  const across = Array.from({ length: right - left }, (_, i) =>
    picture.at(left + i, top + 4) === blue ? 'b' : '.',
  ).join('');
  expect(across).toMatch(/^b{4}[^b]+b{4}$/);
});

test('a signed distance field takes the colours and halo of the style', async () => {
  // Distances to the edge of a square of 16 pixels in the middle of 32. The full range is 8 pixels.
  const sdf = {
    ...plain(red, 32, 32, { sdf: true }),
    paint(context: Parameters<ReturnType<typeof plain>['paint']>[0]) {
      for (let y = 0; y < 32; y++) {
        for (let x = 0; x < 32; x++) {
          const distance = 8 - Math.max(Math.abs(x - 15.5), Math.abs(y - 15.5));
          context.fillStyle = `rgba(0, 0, 0, ${Math.max(0, Math.min(1, 0.75 + distance / 8))})`;
          context.fillRect(x, y, 1, 1);
        }
      }
    },
  };
  const frame = frameOf(wholeTile, 0, () => [pointAt(100, 100)], await imagesOf({ sdf }));
  const paint = { 'icon-color': green, 'icon-halo-color': blue, 'icon-halo-width': 3 };
  paintLabels(frame, symbolStyle([{ 'icon-image': 'sdf' }], paint));
  const picture = pictureOf(frame, 512, 512);
  expect([100, 106, 109, 114].map((x) => picture.at(x, 100))).toEqual([green, green, blue, white]);
});

const coordinate = fc.integer({ min: 0, max: 511 });
const anyFeature = fc.oneof(
  fc
    .record({ x: coordinate, y: coordinate, name: fc.constantFrom('', 'Via', 'Piazza') })
    .map(({ x, y, name }) => pointAt(x, y, { name })),
  fc
    .record({
      vertices: fc.array(fc.tuple(coordinate, coordinate), { minLength: 2, maxLength: 4 }),
      name: fc.constantFrom('', 'A 1'),
    })
    .map(({ vertices, name }) => lineOf({ name }, ...vertices)),
);
const layout = fc.record({
  'icon-image': fc.constantFrom('shop', 'arrow', 'wide'),
  'symbol-placement': fc.constantFrom('point', 'line'),
  'icon-anchor': fc.constantFrom('center', 'bottom', 'top-left'),
  'icon-rotate': fc.constantFrom(0, 0, 35),
  'icon-padding': fc.constantFrom(0, 3),
  'text-offset': fc.constantFrom([0, 0], [0, 2]),
  'icon-optional': fc.boolean(),
  'text-optional': fc.boolean(),
  'text-rotation-alignment': fc.constantFrom('auto', 'viewport'),
});

test('icons and texts of different labels never overlap, and reserved boxes stay free', () => {
  const keepFree = [{ minX: 200, minY: 200, maxX: 300, maxY: 260 }];
  let icons = 0;
  fc.assert(
    fc.property(fc.array(anyFeature, { minLength: 1, maxLength: 25 }), layout, (features, drawn) => {
      const labels = placed(features, drawn, {}, keepFree);
      const boxes = labels.map(({ placement }) => [...placement.boxes, ...(placement.icon?.boxes ?? [])]);
      icons += labels.filter(({ placement }) => placement.icon).length;
      for (const [i, own] of boxes.entries()) {
        expect(own.length).toBeGreaterThan(0);
        for (const other of [keepFree, ...boxes.slice(0, i)]) {
          expect(own.some((a) => other.some((b) => intersect(a, b)))).toBe(false);
        }
      }
    }),
    { numRuns: propertyRuns(50) },
  );
  expect(icons).toBeGreaterThan(50);
});

test('the pixels of an icon are inside its collision boxes', () => {
  const turn = fc.record({
    'icon-rotate': fc.integer({ min: 0, max: 359 }),
    'icon-size': fc.double({ min: 0.5, max: 3, noNaN: true }),
  });
  fc.assert(
    fc.property(turn, (turned) => {
      const drawn = { 'icon-image': 'wide', ...turned };
      const picture = painted([pointAt(250, 250)], drawn);
      const { boxes } = placed([pointAt(250, 250)], drawn)[0]!.placement.icon!;
      for (let y = 150; y < 350; y++) {
        for (let x = 150; x < 350; x++) {
          if (picture.at(x, y) === white) continue;
          expect(
            boxes.some(({ minX, minY, maxX, maxY }) => x > minX - 2 && x < maxX + 1 && y > minY - 2 && y < maxY + 1),
          ).toBe(true);
        }
      }
    }),
    { numRuns: 8 },
  );
});

test('every symbol property is either read or reported as unsupported', () => {
  const noDifference = [
    'icon-translate-anchor',
    'text-translate-anchor',
    'icon-pitch-alignment',
    'text-pitch-alignment',
  ];
  noDifference.push('symbol-avoid-edges');
  const read = new Set<string>();
  const recording = (layer: StyleLayer): StyleLayer => ({
    ...layer,
    property(name) {
      read.add(name);
      return layer.property(name);
    },
  });
  const features = [pointAt(50, 50, { name: 'x' }), lineOf({ name: 'y' }, [100, 100], [400, 100])];
  for (const placement of ['point', 'line']) {
    const layout = { ...shop, 'symbol-placement': placement, 'icon-allow-overlap': true };
    const { layers } = symbolStyle([layout], { 'text-halo-color': 'white' });
    paintLabels(frameWith(features), { layers: layers.map(recording) });
  }
  for (const group of ['paint', 'layout'] as const) {
    for (const name of Object.keys(latest[`${group}_symbol`])) {
      if (name === 'visibility' || noDifference.includes(name)) continue;
      const asking = styleOf([{ type: 'symbol', source: 'tiles', [group]: { [name]: 'a value like no other' } }]);
      const isReported = unsupported({ ...asking, sprite: 'https://a.example/s' }).some(
        (each) => each.property === name,
      );
      expect(isReported || read.has(name), `${name} is neither read nor reported`).toBe(true);
    }
  }
});
