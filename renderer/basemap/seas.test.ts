import type { Feature, MultiPolygon, Polygon, Position } from 'geojson';
import { feature } from 'topojson-client';
import { expect, test } from 'vitest';
import { isDrawable } from '../fonts.js';
import { readRegionNames, readWaters, readWorld, type StateProperties } from './packages.js';
import { seaLabels } from './seas.js';
import { stateLabels } from './states.js';
import { isInsideOnGlobe } from './testing/inside.js';

/** Returns the rings of all polygons. */
function ringsOf(features: readonly Feature[]): Position[][][] {
  return features.flatMap(({ geometry }) =>
    geometry.type === 'Polygon' ? [geometry.coordinates] : (geometry as MultiPolygon).coordinates,
  );
}

const waters = readWaters('50m');
const names = readRegionNames();
const seas = seaLabels(names.waters);
const states = stateLabels(waters, names.states);
const isIn = (position: Position, shapes: readonly Position[][][]) =>
  shapes.some((rings) => isInsideOnGlobe(position, rings));

test('names of seas stand on the sea, and those of lakes on a lake', () => {
  const world = readWorld('110m');
  const land = ringsOf(feature(world, world.objects.countries).features);
  const lakes = ringsOf(feature(waters, waters.objects.lakes).features as Feature<Polygon>[]);
  expect(seas.length).toBeGreaterThan(20);
  for (const { properties, geometry } of seas) {
    const { name, class: of } = properties!;
    expect([name, isIn(geometry.coordinates, of === 'lake' ? lakes : land)]).toEqual([name, of === 'lake']);
  }
});

test('every name of a sea or state can be drawn, and the first zoom of a sea is whole', () => {
  expect(states.length).toBeGreaterThan(20);
  for (const { properties } of [...seas, ...states]) {
    const { class: _class, min_zoom: zoom = 0, ...all } = properties!;
    expect(Number.isInteger(zoom)).toBe(true);
    for (const [key, text] of Object.entries(all)) {
      expect(key).toMatch(/^name(:[a-z]{2}(-Hant)?)?$/);
      expect([text, isDrawable(text as string, () => true)]).toEqual([text, true]);
    }
  }
});

test('every state with a name in the package has one, at its middle', () => {
  expect(states.map(({ properties }) => properties!.name)).toEqual(
    expect.arrayContaining(['California', 'Québec', 'Queensland', 'Minas Gerais']),
  );
  // Capital districts and Jervis Bay have none.
  const unnamed = ['USA DC', 'AUS CT', 'AUS JB', 'BRA DF'];
  const expected = waters.objects.subunits.geometries.filter(({ id, properties }) => {
    return !unnamed.includes(`${(properties as StateProperties).gu} ${id}`);
  });
  expect(states).toHaveLength(expected.length);
});

test('seas, lakes and states have names in the languages of Natural Earth', () => {
  const named = ([name, language]: readonly [string, string]) =>
    [...seas, ...states].find(({ properties }) => (properties!['name:en'] ?? properties!.name) === name)!.properties![
      `name:${language}`
    ];
  const some = [
    ...([
      ['Caspian Sea', 'uk'],
      ['Lake Victoria', 'fr'],
      ['Irish Sea', 'ja'],
      ['California', 'de'],
      ['Quebec', 'en'],
    ] as const),
    ...([
      ['Georgia', 'zh'],
      ['Georgia', 'zh-Hant'],
    ] as const),
  ];
  const expected = [
    'Каспійське море',
    'Lac Victoria',
    'アイリッシュ海',
    'Kalifornien',
    'Quebec',
    '佐治亚州',
    '佐治亞州',
  ];
  expect(some.map(named)).toEqual(expected);
  // Each sea has at least 20 languages, except one that Natural Earth does not have.
  const fewLanguages = seas.filter(({ properties }) => Object.keys(properties!).length < 20);
  expect(fewLanguages.map(({ properties }) => properties!.name)).toEqual(['Celtic Sea']);
});
