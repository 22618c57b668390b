import { readFileSync } from 'node:fs';
import { type StyleSpecification, validateStyleMin } from '@maplibre/maplibre-gl-style-spec';
import { expect, test } from 'vitest';
import { builtInStyle } from '../styles/built-in.js';
import { localizeStyle } from '../styles/language.js';
import { builtInStyles } from '../styles/names.js';
import type { TileSchema } from '../types.js';
import { forOlderLibraries } from './older-libraries.js';

interface Support {
  readonly 'sdk-support'?: Readonly<Record<string, { readonly js?: string }>>;
}
type Group = Readonly<Record<string, Support>>;

/** The specification with the versions that support each property and operator. */
const specification = JSON.parse(
  readFileSync(
    new URL('../../node_modules/@maplibre/maplibre-gl-style-spec/src/reference/v8.json', import.meta.url),
    'utf8',
  ),
) as Readonly<Record<string, Group>> & { readonly expression_name: { readonly values: Group } };

/** Of the web SDK 4.1 and 4.2. */
const oldest = [2, 4];

const isSince = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < oldest[0]! || (major === oldest[0] && minor <= oldest[1]!);
};
const isKnownToOldest = (support: Support | undefined): boolean =>
  isSince(support?.['sdk-support']?.['basic functionality']?.js ?? '99');

/** Returns the properties and operators of a style that MapLibre GL JS 2.4 does not know. */
function unknownToOldest({ layers }: StyleSpecification): Set<string> {
  const unknown = new Set<string>();
  const read = (value: unknown): void => {
    if (!Array.isArray(value) || value[0] === 'literal') return;
    const operator = specification.expression_name.values[value[0]];
    if (operator && !isKnownToOldest(operator)) unknown.add(value[0]);
    value.forEach(read);
  };
  for (const layer of layers) {
    for (const kind of ['layout', 'paint'] as const) {
      for (const [name, value] of Object.entries(layer[kind] ?? {})) {
        if (!isKnownToOldest(specification[`${kind}_${layer.type}`]?.[name])) unknown.add(name);
        read(value);
      }
    }
    read('filter' in layer ? layer.filter : undefined);
  }
  return unknown;
}

const schemas: readonly TileSchema[] = ['fenceline', 'openmaptiles', 'protomaps', 'protomaps-v3', 'shortbread'];

test.each(schemas)('MapLibre GL JS 2.4 knows all that the built-in styles use, with tiles of %s', (schema) => {
  for (const name of builtInStyles) {
    const style = localizeStyle(builtInStyle(name, schema), 'en');
    expect([...unknownToOldest(style)]).toEqual(['text-variable-anchor-offset']);
    const older = forOlderLibraries(style);
    expect([...unknownToOldest(older)]).toEqual([]);
    expect(validateStyleMin({ ...older, sprite: 'https://maps.example/s', glyphs: '{fontstack}{range}' })).toEqual([]);
    expect(older.layers.map(({ id }) => id)).toEqual(style.layers.map(({ id }) => id));
  }
});

const labels = (layout: object): StyleSpecification => ({
  version: 8,
  sources: { map: { type: 'vector' } },
  layers: [{ id: 'labels', type: 'symbol', source: 'map', 'source-layer': 'places', layout }],
});
const offsets = (value: unknown) => ({ 'text-field': 'x', 'text-variable-anchor-offset': value });
const anchors = (value: unknown, distance: unknown) => ({
  'text-field': 'x',
  'text-variable-anchor': value,
  'text-radial-offset': distance,
});

test.each([
  ['the sides of a point', offsets(['top', [0, 0.85], 'left', [1, 0]]), anchors(['literal', ['top', 'left']], 0.85)],
  [
    'places of the middle, which become one',
    offsets(['center', [0, 0], 'center', [0, 1.2]]),
    anchors(['literal', ['center']], 0),
  ],
  [
    'the middle before the sides, which repeat',
    offsets(['center', [0, 0], 'top', [0.3, 0.4], 'top', [0, 1]]),
    anchors(['literal', ['center', 'top']], 0.5),
  ],
  [
    'an expression',
    offsets(['step', ['zoom'], ['literal', ['left', [0.55, 0]]], 8, ['literal', ['center', [0, 0]]]]),
    anchors(['step', ['zoom'], ['literal', ['left']], 8, ['literal', ['center']]], ['step', ['zoom'], 0.55, 8, 0]),
  ],
  ['no anchors', { 'text-field': 'x' }, { 'text-field': 'x' }],
])('offsets become anchors with one distance: %s', (_name, layout, older) => {
  expect(forOlderLibraries(labels(layout))).toEqual(labels(older));
});
