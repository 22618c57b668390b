import { expect, test } from 'vitest';
import { noImages } from '../../sprites/sprite-images.js';
import { compileStyle } from '../../style/compile.js';
import { styleOf } from '../../testing/pictures.js';
import { tileBytes } from '../../testing/tiles.js';
import { decodeVectorTile } from '../../tiles/vector-tile.js';
import { symbolFeatures } from '../candidates/symbol-features.js';
import { textStyleFor } from '../testing/styles.js';
import { faceOf } from './font-face.js';
import { letterWidths, textWidth } from './measure.js';
import { textStyleOf } from './text-style.js';

const layer = decodeVectorTile(
  tileBytes({ shapes: [{ type: 'point', parts: [[[0, 0]]], tags: { name: 'x', large: 30 } }] }),
).layers.get('shapes')!;
const symbolLayer = (layout: object, paint: object = {}) =>
  compileStyle(styleOf([{ type: 'symbol', source: 'tiles', 'source-layer': 'shapes', layout, paint }])).layers[0]!;
const textStyleAt = (zoom: number, layout: object, paint: object = {}, text = 'Via Roma') =>
  textStyleOf(symbolLayer(layout, paint), layer.features[0]!, zoom, text, 'en')!;

test('size and paint are evaluated at the exact zoom, layout at the whole zoom below', () => {
  const sizes = ['interpolate', ['linear'], ['zoom'], 10, 10, 11, ['get', 'large']];
  const fonts = ['step', ['zoom'], ['literal', ['Noto Sans Regular']], 11, ['literal', ['Noto Sans Bold']]];
  const colors = ['interpolate', ['linear'], ['zoom'], 10, '#000000', 11, '#ffffff'];
  const textStyle = textStyleAt(10.5, { 'text-size': sizes, 'text-font': fonts }, { 'text-color': colors });
  expect(textStyle).toMatchObject({ sizePx: 20, face: 'regular', color: 'rgba(128,128,128,1)' });
  expect(textStyleAt(11, { 'text-size': sizes, 'text-font': fonts })).toMatchObject({ sizePx: 30, face: 'bold' });
});

test.each([
  ['Noto Sans Regular', 'regular'],
  ['Open Sans Semibold', 'bold'],
  ['Roboto Black', 'bold'],
  ['Metropolis Medium Italic', 'italic'],
  ['Noto Sans Oblique', 'italic'],
  ['Roboto Medium', 'medium'],
  ['', 'regular'],
] as const)('%s is drawn with face %s', (name, face) => {
  expect(faceOf([name, 'Arial Unicode MS Bold'])).toBe(face);
});

test('a halo needs a colour and a width', () => {
  expect(textStyleAt(10, {}, { 'text-halo-width': 2 }).haloWidthPx).toBe(0);
  expect(textStyleAt(10, {}, { 'text-halo-width': 2, 'text-halo-color': '#ff0000' }).haloWidthPx).toBe(2);
});

// A wide halo covered the map, and a very wide one drew nothing, not even the text.
test.each([
  [16, 4],
  [40, 10],
])('the halo of a text of %i pixels is at most %i pixels wide', (size, most) => {
  const paint = { 'text-halo-width': 1e9, 'text-halo-color': '#ff0000' };
  expect(textStyleAt(10, { 'text-size': size }, paint).haloWidthPx).toBe(most);
});

test('text with zero size or opacity has no style', () => {
  expect(textStyleAt(10, { 'text-size': 0 })).toBeNull();
  expect(textStyleAt(10, {}, { 'text-opacity': 0 })).toBeNull();
});

test('joined scripts get no letter spacing', () => {
  const spaced = { 'text-size': 10, 'text-letter-spacing': 0.2 };
  expect(textStyleAt(10, spaced).letterSpacingPx).toBe(2);
  expect(textStyleAt(10, spaced, {}, 'شارع').letterSpacingPx).toBe(0);
});

test('widths scale with the size, depend on the face and include letter spacing', () => {
  const type = textStyleFor('Roma', { sizePx: 10 });
  const width = textWidth('Roma', type);
  expect(textWidth('Roma', { ...type, sizePx: 20 })).toBeCloseTo(2 * width);
  expect(textWidth('Roma', { ...type, face: 'bold' })).toBeGreaterThan(width * 1.02);
  expect(textWidth('Roma', { ...type, letterSpacingPx: 3 })).toBeCloseTo(width + 9);
  const letters = letterWidths('Roma', type);
  expect(letters.map(({ letter }) => letter)).toEqual(['R', 'o', 'm', 'a']);
  expect(letters.reduce((sum, letter) => sum + letter.width, 0)).toBeCloseTo(width, 0);
});

test('symbol features are cached per layer and zoom', () => {
  const byZoom = symbolLayer({ 'text-field': ['step', ['zoom'], 'far', 11, 'near'] });
  const other = symbolLayer({ 'text-field': 'other' });
  const first = (style: typeof byZoom, zoom: number) =>
    symbolFeatures(layer, style, zoom, noImages, { minX: 0, minY: 0, maxX: layer.extent, maxY: layer.extent })[0]!;
  const texts = () => [first(byZoom, 10), first(byZoom, 11), first(other, 10)].map(({ text }) => text);
  expect(texts()).toEqual(['far', 'near', 'other']);
  expect(texts()).toEqual(['far', 'near', 'other']);
  expect(first(byZoom, 10)).toBe(first(byZoom, 10));
});
