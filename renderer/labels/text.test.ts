import { expect, test } from 'vitest';
import { compileStyle } from '../style/compile.js';
import { styleOf } from '../testing/pictures.js';
import { tileBytes } from '../testing/tiles.js';
import { decodeVectorTile } from '../tiles/vector-tile.js';
import { labelText } from './text.js';

function textOf(layout: object, tags: Record<string, string | number>): string {
  const bytes = tileBytes({ shapes: [{ type: 'point', parts: [[[0, 0]]], tags }] });
  const feature = decodeVectorTile(bytes).layers.get('shapes')!.features[0]!;
  const style = styleOf([{ type: 'symbol', source: 'tiles', 'source-layer': 'shapes', layout }]);
  return labelText(compileStyle(style).layers[0]!, feature, 10);
}

const paris = { 'name:latin': 'Paris', 'name:nonlatin': 'Париж', name: 'Paris', ref: 'A 1', number: 7 };

test.each([
  ['a constant', 'Here', 'Here'],
  ['a token', '{name}', 'Paris'],
  ['a number', '{number}', '7'],
  ['tokens and text between them', '{name} ({ref})', 'Paris (A 1)'],
  ['a token of what the feature lacks', '{name}{nothing}', 'Paris'],
  ['two tokens of one value', '{name:latin} {name}', 'Paris'],
  ['lines of two scripts', '{name:latin}\n{name:nonlatin}', 'Paris\nПариж'],
  ['lines of one name', ['concat', ['get', 'name:latin'], '\n', ['get', 'name']], 'Paris'],
  ['an expression', ['concat', ['get', 'name'], ' ', ['get', 'ref']], 'Paris A 1'],
  ['braces that an expression makes', ['concat', '{', 'name', '}'], '{name}'],
  [
    'sections of a format',
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
  ['more than a name', 'x'.repeat(201), ''],
] as const)('%s', (_what, field, text) => {
  expect(textOf({ 'text-field': field }, paris)).toBe(text);
});

test.each([
  ['uppercase', 'STRASSE'],
  ['lowercase', 'straße'],
  ['none', 'Straße'],
] as const)('a text in %s', (transform, text) => {
  expect(textOf({ 'text-field': '{name}', 'text-transform': transform }, { name: 'Straße' })).toBe(text);
});
