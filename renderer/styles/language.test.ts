import { latest, type StylePropertySpecification, type StyleSpecification } from '@maplibre/maplibre-gl-style-spec';
import { expect, test } from 'vitest';
import { validateStyle } from '../style/compile.js';
import { compileProperty } from '../style/property.js';
import type { TileFeature } from '../tiles/vector-tile.js';
import { localizeStyle } from './language.js';

type Names = Readonly<Record<string, string>>;

function styleOf(field: unknown): StyleSpecification {
  const layer = {
    id: 'label',
    type: 'symbol',
    source: 'map',
    'source-layer': 'place',
    layout: { 'text-field': field },
  };
  return { version: 8, sources: { map: { type: 'vector' } }, layers: [layer] } as StyleSpecification;
}

/** What a label says of a feature at a zoom. */
function textOf(style: StyleSpecification, properties: Names, zoom = 5): string {
  expect(validateStyle(style)).toEqual([]);
  const layout = (style.layers[0] as { layout: Record<string, unknown> }).layout;
  const specification = latest.layout_symbol['text-field'] as unknown as StylePropertySpecification;
  const property = compileProperty(layout['text-field'], 'label', specification, {});
  return String(property.at(zoom, { type: 1, id: 1, properties } as unknown as TileFeature));
}

const inLanguage = (field: unknown, language: string, properties: Names, zoom?: number) =>
  textOf(localizeStyle(styleOf(field), language), properties, zoom);

const florence: Names = {
  name: 'Firenze',
  'name:en': 'Florence',
  'name:de': 'Florenz',
  name_fr: 'Florence (fr)',
  ref: 'A 1',
};

test.each([
  ['an expression', ['get', 'name']],
  ['a token', '{name}'],
  ['another language', ['get', 'name:en']],
  ['a token of another schema', '{name_en}'],
  ['a script', '{name:latin}'],
  ['a chain', ['coalesce', ['get', 'name_int'], ['get', 'name']]],
  ['an encoding of one vendor', ['coalesce', ['get', 'pgf:name'], ['get', 'name']]],
  ['a format', ['format', ['get', 'name'], { 'font-scale': 0.8 }]],
  ['a choice', ['step', ['zoom'], '', 3, ['get', 'name']]],
  [
    'stops',
    {
      stops: [
        [3, '{name:latin}'],
        [8, '{name}'],
      ],
    },
  ],
])('%s shows the name in the requested language', (_, field) => {
  expect(inLanguage(field, 'de', florence)).toBe('Florenz');
  expect(inLanguage(field, 'fr', florence)).toBe('Florence (fr)');
  expect(inLanguage(field, 'en', florence)).toBe('Florence');
});

test('a local name comes before the English one where the language is spoken', () => {
  const station: Names = { name: "Gare de l'Est", 'name:en': 'East Station', 'name:de': 'Ostbahnhof' };
  const shown = (language: string, isSpoken: boolean) =>
    textOf(localizeStyle(styleOf(['get', 'name']), language, isSpoken), station);
  expect([shown('fr', true), shown('fr', false), shown('de', true)]).toEqual([
    "Gare de l'Est",
    'East Station',
    'Ostbahnhof',
  ]);
});

test('local names are those on the signs', () => {
  expect(inLanguage(['get', 'name:en'], 'native', florence)).toBe('Firenze');
  expect(inLanguage('{name_en}', 'native', florence)).toBe('Firenze');
  expect(inLanguage('{name:latin}', 'native', { 'name:latin': 'Market Street' })).toBe('Market Street');
});

test.each([
  ['de', { name: 'Firenze', 'name:en': 'Florence' }, 'Florence'],
  ['de', { name: 'Firenze' }, 'Firenze'],
  ['it', { name: '東京', 'name:en': 'Tokyo' }, 'Tokyo'],
  ['it', { name: '東京', name_en: 'Tokyo' }, 'Tokyo'],
  ['it', { name: '東京' }, '東京'],
  ['ja', { name: '横浜', 'name:en': 'Yokohama' }, '横浜'],
  ['ja', { name: 'Москва', 'name:en': 'Moscow' }, 'Moscow'],
  ['ja', { name: '서울', 'name:en': 'Seoul' }, 'Seoul'],
  ['ka', { name: 'ბათუმი', 'name:en': 'Batumi' }, 'ბათუმი'],
  ['ru', { name: 'София', 'name:en': 'Sofia' }, 'Sofia'],
  ['ru', { name: 'София' }, 'София'],
  ['ar', { name: 'تهران', 'name:en': 'Tehran' }, 'Tehran'],
  ['en', { name: 'Köln' }, 'Köln'],
])('without a name in %s, %j reads %s', (language, names, text) => {
  expect(inLanguage(['get', 'name'], language, names as Names)).toBe(text);
});

test.each([
  ['zh', { name: 'München', 'name:zh-Hans': '慕尼黑' }, '慕尼黑'],
  ['nb', { name: 'Wien', 'name:no': 'Wien (no)' }, 'Wien (no)'],
])('%s is found under its other tags', (language, names, text) => {
  expect(inLanguage(['get', 'name'], language, names as Names)).toBe(text);
});

test.each(['en', 'de', 'ja', 'ru', 'native'])(
  'in %s, what stands in for a name that is missing still does',
  (language) => {
    expect(inLanguage(['coalesce', ['get', 'name:en'], ['get', 'name']], language, { name: 'Mumbai' })).toBe('Mumbai');
    expect(inLanguage(['coalesce', ['get', 'name'], ['get', 'ref']], language, { ref: 'A 1' })).toBe('A 1');
    expect(inLanguage('{name}', language, { ref: 'A 1' })).toBe('');
  },
);

test('other expressions stay unchanged', () => {
  for (const field of [
    '{ref}',
    'name',
    ['get', 'ref'],
    ['literal', ['get', 'name']],
    { type: 'identity', property: 'name' },
    '',
  ]) {
    expect(localizeStyle(styleOf(field), 'de')).toEqual(styleOf(field));
  }
  expect(inLanguage('{ref} · {name} {none}!', 'de', florence)).toBe('A 1 · Florenz !');
  expect(inLanguage(['concat', ['get', 'ref'], ' ', ['get', 'name']], 'de', florence)).toBe('A 1 Florenz');
});

test('conditions on names, other layers and the given style are unchanged', () => {
  const field = [
    'case',
    ['has', 'name:nonlatin'],
    ['concat', ['get', 'name:latin'], '\n', ['get', 'name:nonlatin']],
    ['get', 'name'],
  ];
  const style = styleOf(field);
  const other = {
    id: 'area',
    type: 'fill',
    source: 'map',
    'source-layer': 'water',
    filter: ['==', ['get', 'name'], 'Arno'],
  };
  style.layers.push(other as StyleSpecification['layers'][number]);
  const before = structuredClone(style);
  const localized = localizeStyle(style, 'de');
  expect(style).toEqual(before);
  expect(localized.layers[1]).toEqual(other);
  const names = { 'name:latin': 'Tokyo', 'name:nonlatin': '東京', name: '東京', 'name:de': 'Tokio' };
  expect(textOf(localized, names)).toBe('Tokio\n東京');
});

const twice = { name: 'Boulevard de Magenta', 'name:latin': 'Boulevard de Magenta' };
const tokyo = { name: '東京', 'name:latin': 'Tokyo', 'name:nonlatin': '東京', 'name:en': 'Tokyo', 'name:de': 'Tokio' };

test.each([
  ['tokens on one line', '{name:latin} {name:nonlatin}', 'Tokio 東京'],
  ['tokens on two lines', '{name:latin}\n{name:nonlatin}', 'Tokio\n東京'],
  ['two languages', '{name} {name_de}', 'Tokio '],
  ['an expression', ['concat', ['get', 'name:latin'], ' ', ['get', 'name']], 'Tokio '],
  ['a nested expression', ['concat', ['concat', ['get', 'name:latin'], ' '], ['coalesce', ['get', 'name']]], 'Tokio '],
  ['a format', ['format', ['get', 'name:latin'], {}, ' ', {}, ['get', 'name_de'], { 'font-scale': 0.8 }], 'Tokio '],
  [
    'a format with the local script',
    ['format', ['get', 'name'], {}, ' ', {}, ['get', 'name:nonlatin'], {}],
    'Tokio 東京',
  ],
])('%s: no name is repeated', (_what, field, text) => {
  expect(inLanguage(field, 'de', tokyo)).toBe(text);
  for (const language of ['de', 'fr', 'ja', 'native'])
    expect(inLanguage(field, language, twice).trim()).toBe('Boulevard de Magenta');
});

test('parts that are not names may repeat', () => {
  expect(inLanguage(['concat', ['get', 'ref'], ['get', 'name'], ['get', 'ref']], 'de', florence)).toBe('A 1FlorenzA 1');
});

test('stops change with the zoom as before', () => {
  const field = {
    stops: [
      [3, ''],
      [4, '{ref}'],
      [8, '{name}'],
    ],
  };
  expect(inLanguage(field, 'de', florence, 5)).toBe('A 1');
  expect(inLanguage(field, 'de', florence, 9)).toBe('Florenz');
});

test('a name in Latin letters is shown where there is no other name', () => {
  for (const language of ['en', 'ja', 'native']) {
    expect(inLanguage('{name}', language, { 'name:latin': 'Clay Street' })).toBe('Clay Street');
    expect(inLanguage(['get', 'name_en'], language, { 'name:latin': 'Clay Street' })).toBe('Clay Street');
  }
});
