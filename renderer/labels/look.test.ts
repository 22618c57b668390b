import { expect, test } from 'vitest';
import { noImages } from '../sprites/sprite-images.js';
import { compileStyle } from '../style/compile.js';
import { styleOf } from '../testing/pictures.js';
import { tileBytes } from '../testing/tiles.js';
import { decodeVectorTile } from '../tiles/vector-tile.js';
import { letterWidths, textWidth } from './measure.js';
import { letteredFeatures } from './select.js';
import { lookFor } from './testing/styles.js';
import { faceOf, lookOf } from './text-style.js';

const layer = decodeVectorTile(
  tileBytes({ shapes: [{ type: 'point', parts: [[[0, 0]]], tags: { name: 'x', large: 30 } }] }),
).layers.get('shapes')!;
const symbolLayer = (layout: object, paint: object = {}) =>
  compileStyle(styleOf([{ type: 'symbol', source: 'tiles', 'source-layer': 'shapes', layout, paint }])).layers[0]!;
const lookAt = (zoom: number, layout: object, paint: object = {}, text = 'Via Roma') =>
  lookOf(symbolLayer(layout, paint), layer.features[0]!, zoom, text, 'en')!;

test('sizes and colours are those of the very zoom, other properties those of the whole zoom below it', () => {
  const sizes = ['interpolate', ['linear'], ['zoom'], 10, 10, 11, ['get', 'large']];
  const fonts = ['step', ['zoom'], ['literal', ['Noto Sans Regular']], 11, ['literal', ['Noto Sans Bold']]];
  const colors = ['interpolate', ['linear'], ['zoom'], 10, '#000000', 11, '#ffffff'];
  const look = lookAt(10.5, { 'text-size': sizes, 'text-font': fonts }, { 'text-color': colors });
  expect(look).toMatchObject({ sizePx: 20, face: 'regular', color: 'rgba(128,128,128,1)' });
  expect(lookAt(11, { 'text-size': sizes, 'text-font': fonts })).toMatchObject({ sizePx: 30, face: 'bold' });
});

test.each([
  ['Noto Sans Regular', 'regular'],
  ['Open Sans Semibold', 'bold'],
  ['Roboto Black', 'bold'],
  ['Metropolis Medium Italic', 'italic'],
  ['Noto Sans Oblique', 'italic'],
  ['Roboto Medium', 'medium'],
  ['', 'regular'],
] as const)('%s is drawn %s', (name, face) => {
  expect(faceOf([name, 'Arial Unicode MS Bold'])).toBe(face);
});

test('a halo without colour or width is none', () => {
  expect(lookAt(10, {}, { 'text-halo-width': 2 }).haloWidthPx).toBe(0);
  expect(lookAt(10, {}, { 'text-halo-width': 2, 'text-halo-color': '#ff0000' }).haloWidthPx).toBe(2);
});

test('text of no size or no opacity is none', () => {
  expect(lookAt(10, { 'text-size': 0 })).toBeNull();
  expect(lookAt(10, {}, { 'text-opacity': 0 })).toBeNull();
});

test('letters that join are not spaced', () => {
  const spaced = { 'text-size': 10, 'text-letter-spacing': 0.2 };
  expect(lookAt(10, spaced).letterSpacingPx).toBe(2);
  expect(lookAt(10, spaced, {}, 'شارع').letterSpacingPx).toBe(0);
});

test('widths grow with the size, differ between faces, and have space between letters', () => {
  const type = lookFor('Roma', { sizePx: 10 });
  const width = textWidth('Roma', type);
  expect(textWidth('Roma', { ...type, sizePx: 20 })).toBeCloseTo(2 * width);
  expect(textWidth('Roma', { ...type, face: 'bold' })).toBeGreaterThan(width * 1.02);
  expect(textWidth('Roma', { ...type, letterSpacingPx: 3 })).toBeCloseTo(width + 9);
  const letters = letterWidths('Roma', type);
  expect(letters.map(({ letter }) => letter)).toEqual(['R', 'o', 'm', 'a']);
  expect(letters.reduce((sum, letter) => sum + letter.width, 0)).toBeCloseTo(width, 0);
});

test('what a layer letters is remembered for each zoom and layer', () => {
  const byZoom = symbolLayer({ 'text-field': ['step', ['zoom'], 'far', 11, 'near'] });
  const other = symbolLayer({ 'text-field': 'other' });
  const texts = () => [
    letteredFeatures(layer, byZoom, 10, noImages)[0]!.text,
    letteredFeatures(layer, byZoom, 11, noImages)[0]!.text,
    letteredFeatures(layer, other, 10, noImages)[0]!.text,
  ];
  expect(texts()).toEqual(['far', 'near', 'other']);
  expect(texts()).toEqual(['far', 'near', 'other']);
  expect(letteredFeatures(layer, byZoom, 10, noImages)).toBe(letteredFeatures(layer, byZoom, 10, noImages));
});
