/**
 * Builds the layers of the basemap as features, at the resolution of a zoom. Pure, except that it reads the packages.
 */
import type { Feature, Geometry, MultiLineString, Position } from 'geojson';
import { feature, merge, mesh } from 'topojson-client';
import type { GeometryObject, MultiPolygon, Polygon } from 'topojson-specification';
import {
  readWaters,
  readWorld,
  type StateProperties,
  type Waters,
  type World,
  type WorldResolution,
} from './packages.js';
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
  const shelves = southernIce.map((ring): Feature => {
    return { type: 'Feature', properties: { kind: 'ice' }, geometry: { type: 'Polygon', coordinates: [[...ring]] } };
  });
  return [...simpleFeatures(bare), ...simpleFeatures(ice, { kind: 'ice' }), ...shelves];
}

/**
 * Outlines of the ice south of the fronts of the Ross, Ronne and Filchner shelves, to a tenth of a degree of latitude.
 * Natural Earth leaves out the shelves. In two parts, because no shape may run around the world.
 */
export const southernIce: readonly (readonly Position[])[] = [
  [
    ...[
      [-180, -90],
      [-180, -78.3],
      [-172, -78.5],
      [-164, -78.6],
      [-160, -78.1],
      [-157, -77.6],
      [-150, -78.5],
    ],
    ...[
      [-85, -78.5],
      [-80, -76.2],
      [-72, -74.8],
      [-61.5, -74.9],
      [-58.5, -75.6],
      [-55, -76.3],
      [-51, -77.3],
      [-48, -77.8],
      [-43, -78.1],
    ],
    ...[
      [-37, -77.8],
      [-34, -78.5],
      [60, -78.5],
      [60, -90],
      [-180, -90],
    ],
  ],
  [
    ...[
      [60, -90],
      [60, -78.5],
      [160, -78.5],
      [166, -77.7],
      [169.4, -77.4],
      [173, -77.7],
      [177, -78.1],
      [180, -78.3],
    ],
    ...[
      [180, -90],
      [60, -90],
    ],
  ],
];

/** Returns the lines between countries. */
function bordersOf(world: World): Feature[] {
  return simpleFeatures(mesh(world, world.objects.countries, (a, b) => a !== b));
}

/** Returns the lines between states of a country. */
function statesOf(waters: Waters): Feature[] {
  const country = (state: GeometryObject) => (state.properties as StateProperties).gu;
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
