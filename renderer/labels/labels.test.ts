import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import { noteMissingFonts, takeMissingFonts } from '../fonts.js';
import { bytesOf } from '../pixels.js';
import { SpriteImages } from '../sprites/sprite-images.js';
import {
  areaAround,
  mostMoves,
  movesOthers,
  namesSquares,
  repeatDistance,
  reservesSpace,
} from '../style/placement-hints.js';
import { wholeTile } from '../testing/pictures.js';
import { placeNames } from '../testing/place-names.js';
import { type DrawnFeature, rectangle, type Vertex } from '../testing/tiles.js';
import type { PixelBox, Viewport } from '../types.js';
import { preparedLabels } from './labels.js';
import { frameOf, labelsIn, labelsOf, paintLabels, symbolStyle, type TileFeatures, textsOf } from './testing/frames.js';
import { inkOf, intersect } from './testing/styles.js';

const pointAt = (name: string, x: number, y: number, tags: object = {}): DrawnFeature => ({
  type: 'point',
  parts: [[[x, y]]],
  tags: { name, ...tags },
});
const lineOf = (name: string, ...vertices: Vertex[]): DrawnFeature => ({
  type: 'line',
  parts: [vertices],
  tags: { name },
});

/** Four tiles. The image shows a square of one tile's size in their middle. */
const fourTiles: Viewport = { ...wholeTile, zoom: 1 };
/** Translates features of a world of 8192 units to the coordinates of each tile. */
function cutUp(features: readonly DrawnFeature[]): TileFeatures {
  return (column, row) =>
    features.map((feature) => ({
      ...feature,
      parts: feature.parts.map((part) => part.map(([x, y]): Vertex => [x - 4096 * column, y - 4096 * row])),
    }));
}

const line = { 'symbol-placement': 'line' };

test('a point in the buffers of several tiles is labelled once', () => {
  for (const [x, y] of [
    [4090, 4090],
    [4096, 4096],
    [4100, 4050],
    [4095, 4096],
  ] as const) {
    const frame = frameOf(fourTiles, 1, cutUp([pointAt('Town', x, y)]));
    const [label, ...others] = labelsIn(frame, [{ 'text-allow-overlap': true }]);
    expect(others).toEqual([]);
    expect(label!.placement.runs[0]!.x).toBeCloseTo(x / 8 - 256);
    expect(label!.placement.runs[0]!.y).toBeCloseTo(y / 8 - 256);
  }
});

test('an uploaded style that asks for areas of another shape is drawn as if it did not', () => {
  const frame = frameOf(wholeTile, 0, () => [pointAt('Palazzo Vecchio', 2048, 2048)]);
  const metadata = { [areaAround]: { sourceLayer: 'layer', minPx2: 1, only: { key: 'name', values: 5 } } };
  expect(textsOf(labelsOf(frame, symbolStyle([{}], {}, metadata), [], 'en'))).toEqual(['Palazzo Vecchio']);
});

test('the name of a landmark is narrow where it has no space otherwise', () => {
  const frame = frameOf(wholeTile, 0, () => [pointAt('Palazzo Vecchio', 2048, 2048)]);
  const beside = (px: number): PixelBox[] => [
    { minX: 0, minY: 0, maxX: 256 - px, maxY: 512 },
    { minX: 256 + px, minY: 0, maxX: 512, maxY: 512 },
  ];
  const linesOf = (px: number, metadata: object) =>
    labelsOf(frame, symbolStyle([{ 'text-size': 12 }], {}, metadata), beside(px), 'en').map(({ placement: { runs } }) =>
      runs.map(({ text }) => text),
    );
  const landmark = { [movesOthers]: true, [mostMoves]: 40 };
  expect(linesOf(60, landmark)).toEqual([['Palazzo Vecchio']]);
  expect(linesOf(35, landmark)).toEqual([['Palazzo', 'Vecchio']]);
  expect(linesOf(35, {})).toEqual([]);
});

test('the label of a street crosses tile edges', () => {
  const street = lineOf('A long street of many tiles', [2500, 4000], [5700, 4200]);
  const [label, ...others] = labelsIn(frameOf(fourTiles, 1, cutUp([street])), [line]);
  expect(others).toEqual([]);
  const [left, right] = [label!.placement.boxes[0]!, label!.placement.boxes.at(-1)!];
  expect(left.minX < 256 && right.maxX > 256).toBe(true);
});

test('the name of a square is level in its middle, or on a straight side where it is too wide', () => {
  const placed = (name: string, [left, top]: Vertex, [right, bottom]: Vertex) => {
    const square = lineOf(name, [left, top], [right, top], [right, bottom], [left, bottom], [left, top]);
    const style = symbolStyle([line], {}, { [namesSquares]: true });
    return labelsOf(frameOf(fourTiles, 1, cutUp([square])), style, [], 'en').map(({ placement }) => placement);
  };
  const [{ runs: [run] = [], rectangle } = {}, ...others] = placed('Piazza', [3496, 3696], [4696, 4496]);
  expect(others).toEqual([]);
  expect([run?.x, run?.y, rectangle?.angle]).toEqual([256, 256, 0].map((value) => expect.closeTo(value)));

  const [narrow, high] = [75, 200];
  const [onSide, ...more] = placed('Piazza Massimo', [3796, 3296], [3796 + 8 * narrow, 3296 + 8 * high]);
  expect(more).toEqual([]);
  expect(onSide?.rectangle?.width).toBeGreaterThan(narrow);
  const expected = { x: 256 - narrow / 2, angle: -Math.PI / 2 };
  expect(onSide?.rectangle).toMatchObject({ x: expect.closeTo(expected.x), angle: expect.closeTo(expected.angle) });
});

test('names in every script are placed at points and along streets', () => {
  for (const [, name] of placeNames) {
    const placed = (feature: DrawnFeature, layout: object) =>
      textsOf(labelsIn(frameOf(fourTiles, 1, cutUp([feature])), [{ 'text-size': 12, ...layout }]));
    expect(placed(pointAt(name, 4090, 3000), {})).toEqual([name]);
    // A short name has space to be repeated.
    expect(new Set(placed(lineOf(name, [2500, 4000], [5700, 4200]), line))).toEqual(new Set([name]));
  }
});

test('equal texts at points keep the distance of their layer, which may double with each zoom', () => {
  /** 15 pixels to the right of each other at the zoom of the tiles. */
  const addresses = cutUp([1, 2, 3, 4].map((i) => pointAt('2', 3800 + 120 * i, 4096)));
  const count = (zoom: number, metadata: object) => {
    const style = symbolStyle([{ 'text-size': 8, 'text-padding': 0 }], {}, metadata);
    return labelsOf(frameOf({ ...fourTiles, zoom }, 1, addresses), style, [], 'en').length;
  };
  expect(count(1, {})).toBe(1);
  expect([1, 2].map((zoom) => count(zoom, { [repeatDistance]: { px: 20 } }))).toEqual([2, 4]);
  expect([1, 2].map((zoom) => count(zoom, { [repeatDistance]: { px: 20, zoom: 1 } }))).toEqual([2, 2]);
});

test('a sort key that is null, or no number, counts as 0 and is not logged', () => {
  const warned = vi.spyOn(console, 'warn');
  const features = [
    pointAt('Later', 4090, 4090, { rank: 1 }),
    pointAt('Null', 4090, 4100),
    pointAt('Text', 4090, 3000, { rank: 'x' }),
  ];
  const sorted = { 'symbol-sort-key': ['get', 'rank'] };
  expect(textsOf(labelsIn(frameOf(fourTiles, 1, cutUp(features)), [sorted]))).toEqual(['Null', 'Text']);
  expect(warned).not.toHaveBeenCalled();
  warned.mockRestore();
});

test.each([
  [2500, 2500],
  [3700, 3700],
])('an area in several tiles is labelled once, in the tile with its largest part', (left, top) => {
  const lake: DrawnFeature = {
    type: 'polygon',
    parts: [rectangle(left, top, left + 2000, top + 2000)],
    tags: { name: 'Lake' },
  };
  const [label, ...others] = labelsIn(frameOf(fourTiles, 1, cutUp([lake])), [{}]);
  expect(others).toEqual([]);
  const { x, y } = label!.placement.runs[0]!;
  const isLater = left + 1000 > 4096;
  expect([x > 256, y > 256]).toEqual([isLater, isLater]);
  expect(x > left / 8 - 256 && x < left / 8 - 6 && y > top / 8 - 256 && y < top / 8 - 6).toBe(true);
});

test('both carriageways of a street share one label', () => {
  const lanes = [1000, 1120].map((y) => lineOf('Street', [80, y], [4000, y]));
  expect(
    labelsIn(
      frameOf(wholeTile, 0, () => lanes),
      [{ ...line, 'symbol-spacing': 500 }],
    ),
  ).toHaveLength(1);
});

test('labels may overlap a label with ignore-placement', () => {
  const frame = frameOf(wholeTile, 0, () => [pointAt('Town', 2048, 2048)]);
  const below = { 'text-field': ['concat', ['get', 'name'], '?'] };
  expect(textsOf(labelsIn(frame, [below, {}]))).toEqual(['Town']);
  expect(textsOf(labelsIn(frame, [below, { 'text-ignore-placement': true }]))).toEqual(['Town', 'Town?']);
});

test('upper layers are placed first, then lower sort keys, then tile order', () => {
  const here = (name: string, tags: object) => pointAt(name, 2048, 2048, tags);
  const frame = frameOf(wholeTile, 0, () => [
    here('first', { key: 2, layer: 'a' }),
    here('second', { key: 1, layer: 'a' }),
    here('third', { key: 1, layer: 'a' }),
    here('top', { key: 9, layer: 'b' }),
  ]);
  const keyed = { 'symbol-sort-key': ['get', 'key'] };
  const inLayer = (name: string) => ({ 'text-field': ['case', ['==', ['get', 'layer'], name], ['get', 'name'], ''] });
  expect(textsOf(labelsIn(frame, [{ ...keyed, ...inLayer('a') }]))).toEqual(['second']);
  // Where they may overlap, the last one is the uppermost.
  expect(textsOf(labelsIn(frame, [{ ...keyed, ...inLayer('a'), 'text-allow-overlap': true }]))).toEqual([
    'first',
    'third',
    'second',
  ]);
  expect(
    textsOf(
      labelsIn(frame, [
        { ...keyed, ...inLayer('b') },
        { ...keyed, ...inLayer('a') },
      ]),
    ),
  ).toEqual(['second']);
  expect(
    textsOf(
      labelsIn(frame, [
        { ...keyed, ...inLayer('a') },
        { ...keyed, ...inLayer('b') },
      ]),
    ),
  ).toEqual(['top']);
});

test('a variable anchor takes the first free side', () => {
  const frame = frameOf(wholeTile, 0, () => [pointAt('Stop', 2048, 2048)]);
  const style = { 'text-variable-anchor': ['left', 'right', 'top'], 'text-radial-offset': 0.5 };
  const sideOf = (keepFree: readonly PixelBox[]) => {
    const [label] = labelsIn(frame, [style], keepFree);
    if (!label) return 'none';
    const { minX, maxX } = label.placement.boxes[0]!;
    return minX > 256 ? 'right of the point' : maxX < 256 ? 'left of the point' : 'below the point';
  };
  const rightSide = { minX: 258, minY: 200, maxX: 400, maxY: 300 };
  const bothSides = { minX: 200, minY: 250, maxX: 300, maxY: 256 };
  expect(sideOf([])).toBe('right of the point');
  expect(sideOf([rightSide])).toBe('left of the point');
  expect(sideOf([bothSides])).toBe('below the point');
  expect(sideOf([rightSide, { minX: 0, minY: 0, maxX: 512, maxY: 512 }])).toBe('none');
});

test('neighbouring stops with equal names are labelled once, unless labels may overlap', () => {
  const frame = frameOf(wholeTile, 0, () => [
    pointAt('Stop', 1000, 1000),
    pointAt('Stop', 1200, 1200),
    pointAt('Stop', 3000, 3000),
  ]);
  expect(labelsIn(frame, [{}])).toHaveLength(2);
  expect(labelsIn(frame, [{ 'text-allow-overlap': true }])).toHaveLength(3);
});

test('labels repeat along a street with the spacing of the style', () => {
  const frame = frameOf(wholeTile, 0, () => [lineOf('Street', [80, 1000], [4000, 1000])]);
  const middles = (spacing: number) =>
    labelsIn(frame, [{ ...line, 'symbol-spacing': spacing }])
      .map(({ placement }) => placement.runs[0]!.x)
      .sort((a, b) => a - b);
  expect(middles(1000)).toHaveLength(1);
  expect(middles(100).length).toBeGreaterThan(2);
  for (const [i, x] of middles(100).entries()) if (i > 0) expect(x - middles(100)[i - 1]!).toBeGreaterThanOrEqual(100);
});

test('every street has its name before a larger street repeats its own', () => {
  const lines = [lineOf('Small', [80, 2000], [4000, 2000]), lineOf('Large', [80, 1000], [4000, 1000])];
  const only = (name: string) => ({
    ...line,
    'symbol-spacing': 100,
    'text-field': ['case', ['==', ['get', 'name'], name], name, ''],
  });
  const frame = frameOf(wholeTile, 0, () => lines);
  const firstTexts = (metadata: object) =>
    textsOf(labelsOf(frame, symbolStyle([only('Small'), only('Large')], {}, metadata), [], 'en')).slice(0, 3);
  expect(firstTexts({})).toEqual(['Large', 'Large', 'Large']);
  expect(firstTexts({ [namesSquares]: true })).toEqual(['Large', 'Small', 'Large']);
});

test('the name of a bridge that is a little shorter takes the space of a landmark, and no other one does', () => {
  const ofType = (type: string) => ({ 'text-field': ['case', ['==', ['geometry-type'], type], ['get', 'name'], ''] });
  const metadata = { [reservesSpace]: true, [namesSquares]: true, [movesOthers]: true };
  const style = symbolStyle([ofType('Point'), { ...line, ...ofType('LineString') }], {}, metadata);
  const placed = (lengthPx: number) => {
    const half = (8 * lengthPx) / 2;
    const bridge = lineOf('Ponte Vecchio', [2048 - half, 2048], [2048 + half, 2048]);
    return labelsOf(
      frameOf(wholeTile, 0, () => [bridge, pointAt('Bottega', 2048, 2048)]),
      style,
      [],
      'en',
    );
  };
  const [longer] = placed(400);
  const { width } = longer!.placement.rectangle!;
  expect(textsOf(placed(width - 10))).toEqual(['Ponte Vecchio']);
  expect(textsOf(placed(width - 30))).toEqual(['Bottega']);
});

test('streets come in the order of the lowest sort key of their parts', () => {
  const part = (name: string, y: number, key: number): DrawnFeature => ({
    ...lineOf(name, [80, y], [4000, y]),
    tags: { name, key },
  });
  const sorted = { ...line, 'symbol-sort-key': ['get', 'key'] };
  const frame = frameOf(wholeTile, 0, () => [part('Ramp', 500, 2), part('Road', 1500, 1), part('Ramp', 2500, 0)]);
  expect(textsOf(labelsIn(frame, [sorted]))[0]).toBe('Ramp');
});

test('road numbers are horizontal and centred on their line', () => {
  const frame = frameOf(wholeTile, 0, () => [lineOf('A 1', [500, 500], [3500, 3500])]);
  const labels = labelsIn(frame, [{ ...line, 'text-rotation-alignment': 'viewport' }]);
  expect(labels.length).toBeGreaterThan(0);
  for (const {
    placement: { runs },
  } of labels) {
    expect(runs[0]!.angle).toBe(0);
    expect(runs[0]!.x).toBeCloseTo(runs[0]!.y);
  }
});

test('text-translate moves the labels', () => {
  const frame = frameOf(wholeTile, 0, () => [pointAt('Town', 2048, 2048)]);
  const [label] = labelsOf(frame, symbolStyle([{}], { 'text-translate': [30, -20] }), [], 'en');
  expect(label!.placement.runs[0]).toMatchObject({ x: 286, y: 236 });
});

const coordinate = fc.integer({ min: -300, max: 4400 });
const name = fc.constantFrom(
  'Via Roma',
  'Piazza della Signoria',
  'شارع الملك فهد',
  'ถนนสุขุมวิท',
  '東京都新宿区',
  'Ŷgþ',
  '12',
);
const anyFeature = fc.oneof(
  fc.record({ name, x: coordinate, y: coordinate }).map(({ name, x, y }) => pointAt(name, x, y)),
  fc
    .record({ name, vertices: fc.array(fc.tuple(coordinate, coordinate), { minLength: 2, maxLength: 5 }) })
    .map(({ name, vertices }) => lineOf(name, ...vertices)),
);
const layout = fc.record({
  'symbol-placement': fc.constantFrom('point', 'line', 'line-center'),
  'text-anchor': fc.constantFrom('center', 'left', 'bottom-right', 'top'),
  'text-offset': fc.constantFrom([0, 0], [1, -1]),
  'text-rotate': fc.constantFrom(0, 30),
  'text-letter-spacing': fc.constantFrom(0, 0.2),
  'text-max-width': fc.constantFrom(5, 10),
  'text-size': fc.constantFrom(10, 16),
});
const someScene = fc.record({
  features: fc.array(anyFeature, { minLength: 1, maxLength: 25 }),
  layouts: fc.array(layout, { minLength: 1, maxLength: 2 }),
});
const keepFree = [{ minX: 100, minY: 100, maxX: 220, maxY: 180 }];

test('placement is deterministic', () => {
  fc.assert(
    fc.property(someScene, ({ features, layouts }) => {
      const labels = () =>
        labelsIn(
          frameOf(wholeTile, 0, () => features),
          layouts,
          keepFree,
        ).map(({ placement }) => placement);
      expect(labels()).toEqual(labels());
    }),
    { numRuns: propertyRuns(30) },
  );
});

test('the ink of labels never overlaps, and reserved boxes stay free', () => {
  let drawn = 0;
  fc.assert(
    fc.property(someScene, ({ features, layouts }) => {
      const labels = labelsIn(
        frameOf(wholeTile, 0, () => features),
        layouts,
        keepFree,
      );
      const taken = new Uint8Array(512 * 512);
      for (const { candidate, placement } of labels) {
        drawn++;
        expect(placement.boxes.some((box) => intersect(box, keepFree[0]!))).toBe(false);
        const ink = inkOf(candidate.textStyle!, placement, 512, 512, 1);
        let doubled = 0;
        for (let i = 0; i < ink.length; i++) {
          doubled += ink[i]! & taken[i]!;
          taken[i]! |= ink[i]!;
        }
        expect(doubled).toBe(0);
      }
    }),
    { numRuns: propertyRuns(30) },
  );
  expect(drawn).toBeGreaterThan(propertyRuns(30));
});

test('letters are painted over their halo at the scale of the image', () => {
  const frame = frameOf({ ...wholeTile, scale: 2 }, 0, () => [pointAt('lll', 2048, 2048)]);
  const paint = { 'text-color': '#0000ff', 'text-halo-color': '#ff0000', 'text-halo-width': 3 };
  paintLabels(frame, symbolStyle([{ 'text-size': 60 }], paint));
  const [, , stroke, ...more] = runsOfColor(bytesOf(frame.surface.pixels), frame.surface.width, 512);
  expect(stroke).toMatchObject({ color: '0 0 255' });
  expect(more.length).toBeGreaterThan(3);
});

/** Returns runs of at least three pixels of one colour along a row. */
function runsOfColor(pixels: Uint8ClampedArray, width: number, row: number): { color: string; length: number }[] {
  const runs: { color: string; length: number }[] = [];
  for (let x = 0; x < width; x++) {
    const color = pixels.subarray(4 * (row * width + x), 4 * (row * width + x) + 3).join(' ');
    const last = runs.at(-1);
    if (last?.color === color) last.length++;
    else runs.push({ color, length: 1 });
  }
  return runs.filter(({ length }) => length > 2);
}

test('fonts that are missing are noted each time that prepared labels are placed', () => {
  const images = new SpriteImages('', []);
  // Read while the features with icons are selected.
  Object.defineProperty(images, 'key', { get: () => noteMissingFonts(['a font']) });
  const frame = frameOf(wholeTile, 0, () => [pointAt('a', 100, 100)], images);
  const prepared = preparedLabels(frame, symbolStyle([{ 'icon-image': 'icon' }]), 'en');
  expect(takeMissingFonts()).toEqual([]);
  for (let i = 0; i < 2; i++) {
    prepared.place([]);
    expect(takeMissingFonts()).toEqual(['a font']);
  }
});
