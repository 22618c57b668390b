import type { LayerSpecification, SourceSpecification, StyleSpecification } from '@maplibre/maplibre-gl-style-spec';
import { describe, expect, test } from 'vitest';
import { fontFamilies } from '../fonts.js';
import { styleOf } from '../testing/pictures.js';
import { checkStyle, onArchive } from './custom.js';

const archive = { kind: 'vector', layers: ['water', 'roads'] } as const;
const vector = { type: 'vector', url: 'https://tiles.example/tiles.json' } as const;

const layer = (id: string, source: string, sourceLayer: string, more: object = {}) =>
  ({ id, type: 'fill', source, 'source-layer': sourceLayer, ...more }) as LayerSpecification;

const style = (sources: Record<string, SourceSpecification>, ...layers: LayerSpecification[]): StyleSpecification => ({
  version: 8,
  sources,
  layers,
});

/** Where something isn't drawn: the layer, the property and the first words of why. */
const undrawn = (value: unknown, from: Parameters<typeof checkStyle>[1] = archive) => {
  const check = checkStyle(value, from);
  if (!check.ok) throw new Error(check.problem.rule);
  return check.value.map(({ layer, property, message }) => [layer, property, message.split(/[:,]/)[0]]);
};

test('a style that matches the archive is drawn completely', () => {
  expect(undrawn(style({ any: vector }, layer('sea', 'any', 'water'), layer('roads', 'any', 'roads')))).toEqual([]);
});

test.each([
  ['nothing', null, ''],
  ['no style', {}, ''],
  ['another version', { ...styleOf([]), version: 7 }, 'version'],
  ['an unknown property', styleOf([{ type: 'background', paint: { color: 'red' } }]), 'layers[0].paint.color'],
  ['a broken filter', style({ a: vector }, layer('x', 'a', 'water', { filter: ['is', 1] })), 'layers[0].filter[0]'],
  ['an unknown source', style({}, layer('x', 'a', 'water')), 'layers[0]'],
  ['a name twice', style({ a: vector }, layer('x', 'a', 'water'), layer('x', 'a', 'water')), 'layers[1]'],
])('%s is refused with its position', (_name, value, field) => {
  const check = checkStyle(value, archive);
  expect(check).toMatchObject({ ok: false, problem: { param: field, rule: expect.stringMatching(/\w/) } });
});

describe('regression: an expression that grows without bound is refused with its position', () => {
  /** Doubles a value as often as this, by variables that each use the one before twice. */
  function doubled(times: number, operator: string, value: unknown): unknown {
    let result: unknown = ['var', `v${times}`];
    for (let i = times; i > 0; i--)
      result = ['let', `v${i}`, [operator, ...Array(2).fill(i === 1 ? value : ['var', `v${i - 1}`])], result];
    return result;
  }
  /** A name beside itself in capitals, as often as this. Localized, a repeated name is compared with those before. */
  const nestedNames = (times: number): unknown =>
    times === 0 ? ['get', 'name'] : ['concat', ['get', 'name:en'], ['upcase', nestedNames(times - 1)]];
  const checked = (more: object) =>
    checkStyle(style({ a: vector }, layer('first', 'a', 'water'), layer('second', 'a', 'water', more)), archive);
  const rule =
    'must have at most 20000 operators when its variables and names are written out, ' +
    'of which each position in within counts as 10';

  test.each([
    ['paint.fill-opacity', { paint: { 'fill-opacity': doubled(40, '+', ['get', 'x']) } }],
    ['filter', { filter: ['==', doubled(40, 'concat', ['get', 'x']), 'a'] }],
    ['paint.fill-pattern', { paint: { 'fill-pattern': doubled(40, 'coalesce', ['image', 'a']) } }],
    ['layout.text-field', { type: 'symbol', layout: { 'text-field': nestedNames(40) } }],
    [
      'layout.text-field',
      { type: 'symbol', layout: { 'text-field': ['concat', ...Array(15_000).fill(['get', 'name'])] } },
    ],
  ])('%s', (place, more) => {
    expect(checked(more)).toEqual({ ok: false, problem: { param: `layers[1].${place}`, rule } });
  });

  test('others may use variables and names often', () => {
    expect(checked({ paint: { 'fill-opacity': doubled(11, '+', ['get', 'x']) } })).toMatchObject({ ok: true });
    expect(checked({ type: 'symbol', layout: { 'text-field': nestedNames(4) } })).toMatchObject({ ok: true });
  });
});

// The place was empty, and the rule was "Cannot read properties of null".
test('an expression without valid GeoJSON is refused by its place', () => {
  const radius = { paint: { 'fill-opacity': ['distance', { type: 'Feature', geometry: null }] } };
  const refused = checkStyle(style({ a: vector }, layer('first', 'a', 'water', radius)), archive);
  expect(refused).toMatchObject({ ok: false, problem: { param: 'layers[0].paint.fill-opacity' } });
});

test('the most used source becomes the archive, and layers of others are reported', () => {
  const several = style(
    {
      hills: { type: 'raster-dem', url: 'https://a.example' },
      contours: vector,
      base: vector,
      shapes: { type: 'geojson', data: {} as never },
    },
    layer('lines', 'contours', 'contour'),
    layer('sea', 'base', 'water'),
    { id: 'shade', type: 'hillshade', source: 'hills' },
    layer('roads', 'base', 'roads'),
    { id: 'mine', type: 'fill', source: 'shapes' },
  );
  expect(undrawn(several)).toEqual([
    ['shade', null, 'Layers of type hillshade are not drawn'],
    ...['hills', 'contours', 'shapes'].map((name) => [null, `sources.${name}`, 'Not loaded']),
  ]);
  const sources = onArchive(several).layers.map((each) => 'source' in each && each.source);
  expect(sources).toEqual(['none', 'map', 'none', 'map', 'none']);
});

test('layers missing in the archive are reported', () => {
  const wanting = style({ a: vector }, layer('parks', 'a', 'park'), layer('sea', 'a', 'water'));
  expect(undrawn(wanting)).toEqual([['parks', 'source-layer', 'The archive of this installation has no layer "park"']]);
  expect(undrawn(wanting, { kind: 'vector', layers: null })).toEqual([]);
  expect(undrawn(wanting, { kind: 'raster', layers: null })).toEqual([[null, 'sources.a', 'Its layers are not drawn']]);
});

test('external resources of styles are reported, except sprites', () => {
  const layout = { 'text-field': '{name}', 'icon-image': 'shield', 'icon-size': 2, 'text-writing-mode': ['vertical'] };
  const names = {
    id: 'names',
    type: 'symbol',
    source: 'a',
    'source-layer': 'water',
    layout,
  } as unknown as LayerSpecification;
  const loading = {
    ...style({ a: vector }, names),
    glyphs: 'https://a.example/{fontstack}/{range}',
    sprite: 'https://a.example/s',
  };
  expect(undrawn(loading).map(([of, property]) => [of, property])).toEqual([
    [null, 'glyphs'],
    ['names', 'text-writing-mode'],
  ]);
});

test('layers with ref inherit from other layers', () => {
  const like = { id: 'like', ref: 'sea', paint: { 'fill-color': 'red' } } as unknown as LayerSpecification;
  const referring = style({ a: vector }, layer('sea', 'a', 'water'), like);
  expect(undrawn(referring)).toEqual([]);
  expect(onArchive(referring).layers[1]).toEqual({
    id: 'like',
    type: 'fill',
    source: 'map',
    'source-layer': 'water',
    paint: { 'fill-color': 'red' },
  });
});

test('fonts that are not installed are reported with their scripts, to styles with texts', () => {
  const lacking = fontFamilies.filter(({ scripts }) => /^(Georgian|Ol_Chiki)$/.test(`${scripts}`));
  const text = { type: 'symbol', layout: { 'text-field': '{name}' } };
  const messages = (value: StyleSpecification) => {
    const check = checkStyle(value, archive, lacking);
    return check.ok ? check.value.map(({ message }) => message) : [check.problem.rule];
  };
  expect(messages(style({ any: vector }, layer('names', 'any', 'roads', text)))).toEqual([
    'Names in scripts without an installed font are not drawn. Install: ' +
      'Georgian (@fontsource-variable/noto-sans-georgian), Ol Chiki (@fontsource-variable/noto-sans-ol-chiki)',
  ]);
  expect(messages(style({ any: vector }, layer('sea', 'any', 'water')))).toEqual([]);
});
