/** Creates the label of each country: position, names and first zoom. Pure. */
import type { Feature, MultiPolygon, Point, Polygon, Position } from 'geojson';
import { feature } from 'topojson-client';
import { countryRank, microstateZoom } from '../styles/country-ranks.js';
import { labelPoint } from './label-point.js';
import { countryNames, regionOf } from './names.js';
import type { World } from './packages.js';
import { unwrapPolygon } from './unwrap.js';

interface Country {
  readonly region: string;
  /** The largest part of the country. */
  readonly part: Position[][];
  readonly areaKm2: number;
}

/** Mean radius of the globe. */
const degreeKm = 111.2;

/** Antarctica's shape runs around the pole, and has no middle on the plane. */
const labelPoints: Readonly<Record<string, Position>> = { AQ: [40, -78] };

/** The data has no number for Kosovo. */
const regionsByName: Readonly<Record<string, string>> = { Kosovo: 'XK' };

/**
 * Returns the labels, the most important first. `class` is country or microstate, `rank` is 1 (world powers) to 6, and
 * `order` is the position among all countries. `min_zoom` is the first zoom with enough space, `iso_a2` the country's
 * two letters. Countries missing in one world are taken from the next.
 */
export function countryLabels(worlds: readonly World[]): Feature<Point>[] {
  return countriesOf(worlds)
    .map(({ region, part }) => ({ part, ...countryRank(region) }))
    .sort((a, b) => a.position - b.position || (a.region < b.region ? -1 : 1))
    .map(({ region, part, position, rank, minZoom }) => {
      const ranks = { rank, order: position, min_zoom: minZoom };
      const properties = {
        iso_a2: region,
        class: minZoom < microstateZoom ? 'country' : 'microstate',
        ...ranks,
        ...countryNames(region),
      };
      return {
        type: 'Feature',
        geometry: { type: 'Point', coordinates: labelPoints[region] ?? labelPoint(part) },
        properties,
      };
    });
}

/** Returns the countries of all worlds. For those in several, the first shape counts. */
function countriesOf(worlds: readonly World[]): Country[] {
  const countries = worlds
    .map(countriesByRegion)
    .reverse()
    .flatMap((byRegion) => [...byRegion]);
  return [...new Map(countries).values()];
}

/** Some countries have several entries, such as Australia and its distant reefs. The largest represents them. */
function countriesByRegion(world: World): Map<string, Country> {
  const countries = new Map<string, Country>();
  for (const { id, properties, geometry } of feature(world, world.objects.countries).features) {
    const region = typeof id === 'string' ? regionOf(id) : regionsByName[properties.name];
    if (region === undefined) continue;
    const country = { region, ...largestPart(geometry as Polygon | MultiPolygon) };
    if (country.areaKm2 > (countries.get(region)?.areaKm2 ?? 0)) countries.set(region, country);
  }
  return countries;
}

function largestPart(geometry: Polygon | MultiPolygon): { part: Position[][]; areaKm2: number } {
  const parts = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates;
  const measured = parts.map(unwrapPolygon).map((part) => ({ part, areaKm2: areaKm2(part[0]!) }));
  return measured.reduce((largest, other) => (other.areaKm2 > largest.areaKm2 ? other : largest));
}

/** Computes areas in an equal-area projection (Lambert's cylindrical one). */
function areaKm2(ring: readonly Position[]): number {
  const heights = ring.map(([, latitude]) => (Math.sin((latitude! * Math.PI) / 180) * 180) / Math.PI);
  let sum = 0;
  for (let i = 1; i < ring.length; i++) sum += (ring[i]![0]! - ring[i - 1]![0]!) * (heights[i]! + heights[i - 1]!);
  return (Math.abs(sum) / 2) * degreeKm ** 2;
}
