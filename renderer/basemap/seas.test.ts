import type { Feature, MultiPolygon, Polygon, Position } from 'geojson';
import { feature } from 'topojson-client';
import { expect, test } from 'vitest';
import { isDrawable } from '../fonts.js';
import { readWaters, readWorld, type StateProperties } from './packages.js';
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
const isIn = (position: Position, shapes: readonly Position[][][]) =>
  shapes.some((rings) => isInsideOnGlobe(position, rings));

test('names of seas stand on the sea, and those of lakes on a lake', () => {
  const world = readWorld('110m');
  const land = ringsOf(feature(world, world.objects.countries).features);
  const lakes = ringsOf(feature(waters, waters.objects.lakes).features as Feature<Polygon>[]);
  for (const { properties, geometry } of seaLabels()) {
    const { name, class: of } = properties!;
    expect([name, isIn(geometry.coordinates, of === 'lake' ? lakes : land)]).toEqual([name, of === 'lake']);
  }
});

test('every name of a sea can be drawn, and its first zoom is whole', () => {
  for (const { properties } of seaLabels()) {
    const { class: _class, min_zoom: zoom, ...names } = properties!;
    expect(Number.isInteger(zoom)).toBe(true);
    for (const [key, text] of Object.entries(names)) {
      expect(key).toMatch(/^name(:[a-z]{2}(-Hant)?)?$/);
      expect([text, isDrawable(text as string, () => true)]).toEqual([text, true]);
    }
  }
});

test('every state with a name in the package has one, at its middle', () => {
  const labels = stateLabels(waters);
  expect(labels.map(({ properties }) => properties!.name)).toEqual(
    expect.arrayContaining(['California', 'Quebec', 'Queensland', 'Minas Gerais']),
  );
  // Capital districts and Jervis Bay have none.
  const unnamed = ['USA DC', 'AUS CT', 'AUS JB', 'BRA DF'];
  const expected = waters.objects.subunits.geometries.filter(({ id, properties }) => {
    return !unnamed.includes(`${(properties as StateProperties).gu} ${id}`);
  });
  expect(labels).toHaveLength(expected.length);
});
