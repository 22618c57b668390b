/** The label of each country: where it stands, what it says, and how soon it is shown. Pure. */

import type { Feature, MultiPolygon, Point, Polygon, Position } from 'geojson';
import { feature } from 'topojson-client';
import { labelPoint } from './label-point.js';
import { countryNames, regionOf } from './names.js';
import type { City, World } from './packages.js';
import { unwrapPolygon } from './unwrap.js';

interface Country {
  readonly region: string;
  /** The largest of its parts. */
  readonly part: Position[][];
  readonly areaKm2: number;
}

/** Mean of the globe. */
const degreeKm = 111.2;

/** Kosovo has no number of its own in the data. */
const regionsByName: Readonly<Record<string, string>> = { Kosovo: 'XK' };

/** No name of these would be readable before they have filled the picture: a rank more for each step. */
const rankScores = [13.3, 12.2, 11.2, 10, 8.5];

/**
 * Labels, the most important first. `rank` is 1 (world powers by area and population) to 6 (islets), `min_zoom` the
 * first zoom at which there is room for it, `iso_a2` the country's two letters. Of the worlds each next one is asked
 * for what those before it leave out.
 */
export function countryLabels(worlds: readonly World[], cities: readonly City[]): Feature<Point>[] {
  const populations = new Map<string, number>();
  for (const { country, population } of cities) populations.set(country, (populations.get(country) ?? 0) + population);
  return countriesOf(worlds)
    .map((country) => ({ ...country, score: scoreOf(country.areaKm2, populations.get(country.region) ?? 0) }))
    .sort((a, b) => b.score - a.score || (a.region < b.region ? -1 : 1))
    .map(({ region, part, score }) => {
      const rank = 1 + rankScores.filter((least) => score < least).length;
      const properties = { iso_a2: region, rank, min_zoom: rank - 1, ...countryNames(region) };
      return { type: 'Feature', geometry: { type: 'Point', coordinates: labelPoint(part) }, properties };
    });
}

/** The orders of magnitude of area and population together. */
function scoreOf(areaKm2: number, population: number): number {
  return Math.log10(Math.max(1, areaKm2)) + Math.log10(Math.max(1, population));
}

/** All that any of the worlds has; of those in several, the shape of the first. */
function countriesOf(worlds: readonly World[]): Country[] {
  const countries = worlds
    .map(countriesByRegion)
    .reverse()
    .flatMap((byRegion) => [...byRegion]);
  return [...new Map(countries).values()];
}

/** Some have several entries, as Australia and its distant reefs: the largest stands for them. */
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

/** In a projection that keeps areas (Lambert's cylindrical one). */
function areaKm2(ring: readonly Position[]): number {
  const heights = ring.map(([, latitude]) => (Math.sin((latitude! * Math.PI) / 180) * 180) / Math.PI);
  let sum = 0;
  for (let i = 1; i < ring.length; i++) sum += (ring[i]![0]! - ring[i - 1]![0]!) * (heights[i]! + heights[i - 1]!);
  return (Math.abs(sum) / 2) * degreeKm ** 2;
}
