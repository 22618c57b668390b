/**
 * Builds the layers of the basemap as features, at the resolution of a zoom. Pure, except that it reads the packages.
 */

import type { Feature, Geometry, MultiLineString } from 'geojson';
import { feature, merge, mesh } from 'topojson-client';
import type { GeometryObject, MultiPolygon, Polygon } from 'topojson-specification';
import { readWaters, readWorld, type Waters, type World, type WorldResolution } from './packages.js';
import { unwrapLine, unwrapPolygon } from './unwrap.js';

/** ISO numbers of ice-covered lands: Antarctica and Greenland. */
const iceCovered = ['010', '304'];

/** Returns the layers by name: land, lakes, rivers, states, borders. */
export function shapeLayers(resolution: WorldResolution): Map<string, Feature[]> {
  const world = readWorld(resolution);
  const waters = readWaters(resolution === '110m' ? '110m' : '50m');
  return new Map([
    ['land', landOf(world)],
    ['lakes', shapesOf(waters, waters.objects.lakes)],
    ['rivers', shapesOf(waters, waters.objects.rivers)],
    ['states', statesOf(waters)],
    ['borders', bordersOf(world)],
  ]);
}

/** Returns one feature for each land mass. Ice-covered ones have `kind` `ice`. */
function landOf(world: World): Feature[] {
  const countries = world.objects.countries.geometries as (Polygon | MultiPolygon)[];
  const isIce = ({ id }: GeometryObject) => iceCovered.includes(String(id));
  const bare = merge(
    world,
    countries.filter((country) => !isIce(country)),
  );
  const ice = merge(world, countries.filter(isIce));
  return [...simpleFeatures(bare), ...simpleFeatures(ice, { kind: 'ice' })];
}

/** Returns the lines between countries. */
function bordersOf(world: World): Feature[] {
  return simpleFeatures(mesh(world, world.objects.countries, (a, b) => a !== b));
}

/** Returns the lines between states of a country. */
function statesOf(waters: Waters): Feature[] {
  const country = (state: GeometryObject) => (state.properties as { gu: string }).gu;
  return simpleFeatures(
    mesh(waters, waters.objects.subunits, (a, b) => a !== b && country(a) === country(b)) as MultiLineString,
  );
}

function shapesOf(waters: Waters, collection: Waters['objects']['lakes']): Feature[] {
  return feature(waters, collection).features.flatMap(({ geometry }) => simpleFeatures(geometry));
}

/** Returns a feature for each line or polygon, on the plane. */
function simpleFeatures(geometry: Geometry, properties: Record<string, string> = {}): Feature[] {
  return simpleGeometries(geometry).map((simple) => ({ type: 'Feature', geometry: simple, properties }));
}

function simpleGeometries(geometry: Geometry): Geometry[] {
  switch (geometry.type) {
    case 'LineString':
      return [{ type: 'LineString', coordinates: unwrapLine(geometry.coordinates) }];
    case 'MultiLineString':
      return geometry.coordinates.map((line) => ({ type: 'LineString', coordinates: unwrapLine(line) }));
    case 'Polygon':
      return [{ type: 'Polygon', coordinates: unwrapPolygon(geometry.coordinates) }];
    case 'MultiPolygon':
      return geometry.coordinates.map((polygon) => ({ type: 'Polygon', coordinates: unwrapPolygon(polygon) }));
    default:
      return [];
  }
}
