import { expect, test } from 'vitest';
import { compileStyle } from '../../style/compile.js';
import { styleOf } from '../../testing/pictures.js';
import { tileBytes } from '../../testing/tiles.js';
import { decodeVectorTile } from '../../tiles/vector-tile.js';
import { labelTexts } from './label-text.js';

function labelTextOf(layout: object, tags: Record<string, string | number>) {
  const bytes = tileBytes({ shapes: [{ type: 'point', parts: [[[0, 0]]], tags }] });
  const tileLayer = decodeVectorTile(bytes).layers.get('shapes')!;
  const style = styleOf([{ type: 'symbol', source: 'tiles', 'source-layer': 'shapes', layout }]);
  return labelTexts(compileStyle(style).layers[0]!, tileLayer, 10)(tileLayer.features[0]!);
}

const textOf = (layout: object, tags: Record<string, string | number>): string => labelTextOf(layout, tags).text;

const paris = { 'name:latin': 'Paris', 'name:nonlatin': 'Париж', name: 'Paris', ref: 'A 1', number: 7 };

test.each([
  ['a constant', 'Here', 'Here'],
  ['a token', '{name}', 'Paris'],
  ['a number', '{number}', '7'],
  ['tokens with text between them', '{name} ({ref})', 'Paris (A 1)'],
  ['a token of a missing property', '{name}{nothing}', 'Paris'],
  ['two tokens with equal values', '{name:latin} {name}', 'Paris'],
  ['lines in two scripts', '{name:latin}\n{name:nonlatin}', 'Paris\nПариж'],
  ['equal lines', ['concat', ['get', 'name:latin'], '\n', ['get', 'name']], 'Paris'],
  ['an expression', ['concat', ['get', 'name'], ' ', ['get', 'ref']], 'Paris A 1'],
  ['braces in the result of an expression', ['concat', '{', 'name', '}'], '{name}'],
  [
    'sections of a format expression',
    ['format', ['get', 'name'], { 'font-scale': 2 }, '\n', {}, ['get', 'ref'], { 'font-scale': 0.5 }],
    'Paris\nA 1',
  ],
  [
    'tokens by zoom',
    {
      stops: [
        [0, '{ref}'],
        [8, '{name}'],
      ],
    },
    'Paris',
  ],
  ['spaces around and within', '  {name} \n\n  {ref}\t x', 'Paris\nA 1 x'],
  ['nothing', ['get', 'nothing'], ''],
  ['a text that is too long', 'x'.repeat(201), ''],
] as const)('%s', (_what, field, text) => {
  expect(textOf({ 'text-field': field }, paris)).toBe(text);
});

// A name with a null character ended the drawing of the map. The others were drawn as boxes.
test.each([
  ['null', 'Ponte\u0000 Vecchio', 'Ponte Vecchio'],
  ['only a null', '\u0000', ''],
  ['other control characters', 'Ponte\u0007Vecchio\u0085\u007F', 'Ponte Vecchio'],
  ['half of a character', '\uD83DPonte \uDE00', 'Ponte'],
  ['a keycap', 'Line 1\uFE0F\u20E3 north', 'Line 1 north'],
  ['only a keycap', '1\uFE0F\u20E3', '1'],
  ['a flag of tags', '\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F} England', 'England'],
] as const)('of %s nothing is drawn', (_what, name, text) => {
  expect(textOf({ 'text-field': name }, {})).toBe(text);
});

test('sections of a name from which nothing is removed end where their texts end', () => {
  const field = ['format', ['get', 'name'], { 'font-scale': 2 }, ' Saint-Denis, Nord', {}];
  const { text, sections } = labelTextOf({ 'text-field': field }, paris);
  expect(text).toBe('Paris Saint-Denis, Nord');
  expect(sections?.map(({ end, scale }) => [end, scale])).toEqual([
    [5, 2],
    [23, 1],
  ]);
});

test('a name without a font is replaced by the English or Latin one, in the style of the text', () => {
  const gothic = { name: '𐌲𐌿𐍄', 'name:latin': 'Gutþiuda', ref: '𐌲 1' };
  const nameIn = (tags: object, layout: object = {}) =>
    textOf({ 'text-field': '{name}', ...layout }, { ...gothic, ...tags });
  expect(nameIn({})).toBe('Gutþiuda');
  expect(nameIn({ 'name:en': 'Gothia' }, { 'text-transform': 'uppercase' })).toBe('GOTHIA');
  expect(nameIn({ 'name:en': '𐌲𐌿𐍄' })).toBe('Gutþiuda');
  expect(textOf({ 'text-field': ['get', 'name'] }, gothic)).toBe('Gutþiuda');
  expect(textOf({ 'text-field': '{ref}' }, gothic)).toBe('');
  expect(textOf({ 'text-field': '{name}' }, { name: '𐌲𐌿𐍄' })).toBe('');
});

test.each([
  ['empty brackets', '{name} ({nothing})', 'Paris'],
  ['separators at the end', '{name} / {nothing}', 'Paris'],
  ['separators at the start', '{nothing} – {name}', 'Paris'],
  ['pictures', 'Café ☕️ {name} 🏳️‍🌈', 'Café Paris'],
  ['lines without a font', '{name}\n𐌲𐌿𐍄', 'Paris'],
  ['a text without a font', '𐌲𐌿𐍄', ''],
])('%s are left out', (_what, field, text) => {
  expect(textOf({ 'text-field': field }, paris)).toBe(text);
});

test('separators between names and brackets around text stay', () => {
  for (const text of ['Biel/Bienne', 'Bolzano – Bozen', 'Köln (Süd)', 'Rock ’n’ Roll®'])
    expect(textOf({ 'text-field': text }, {})).toBe(text);
});

const sectionsOf = (layout: object, tags: Parameters<typeof labelTextOf>[1]) => labelTextOf(layout, tags).sections;

test('sections of a format have their font, scale and colour, and cover the tidied text', () => {
  const field = [
    ...['format', ['get', 'name'], {}, '  \n\n ', {}],
    ...[['get', 'ref'], { 'font-scale': 0.5, 'text-color': '#ff0000', 'text-font': ['literal', ['Noto Sans Bold']] }],
  ];
  expect(sectionsOf({ 'text-field': field }, paris)).toEqual([
    { end: 5, scale: 1, color: null, fonts: null },
    { end: 6, scale: 1, color: null, fonts: null },
    { end: 9, scale: 0.5, color: 'rgba(255,0,0,1)', fonts: ['Noto Sans Bold'] },
  ]);
  expect(sectionsOf({ 'text-field': ['format', ['get', 'name'], {}, ['get', 'ref'], {}] }, paris)).toBeNull();
});

test('a section counts letters after the change of case', () => {
  const field = ['format', 'Straße', { 'font-scale': 2 }, ' 1', {}];
  expect(sectionsOf({ 'text-field': field, 'text-transform': 'uppercase' }, {})!.map(({ end }) => end)).toEqual([7, 9]);
});

test.each([
  ['uppercase', 'STRASSE'],
  ['lowercase', 'straße'],
  ['none', 'Straße'],
] as const)('a text in %s', (transform, text) => {
  expect(textOf({ 'text-field': '{name}', 'text-transform': transform }, { name: 'Straße' })).toBe(text);
});
