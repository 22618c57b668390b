/**
 * Populated places, and from which zoom on each is shown: a map of a metropolis and one of a desert should both have
 * some names, and neither too many. Pure.
 */

import type { Feature, Point } from 'geojson';
import { worldPixel, worldSizePx } from '../view/projection.js';
import type { City } from './packages.js';

/** At most one new place for each square of this many pixels, of a world that is 512 wide at zoom 0. */
const squarePx = 64;

/** Places that never win a square of their own are shown from here on. */
const lastZoom = 11;

/** Below these inhabitants a place is not shown at zooms up to the index, however lonely it lies. */
const leastPopulation = [2_000_000, 1_000_000, 500_000, 200_000, 50_000, 10_000, 2_000];

/** A capital competes as a city of several times its size; from this zoom on it is shown in any case. */
const capitalFactor = 4;
const capitalPopulation = 200_000;
const firstZoomOfCapitals = 3;

/** Feature codes of places that are no more: abandoned, historical, destroyed. */
const formerPlaces = ['PPLQ', 'PPLH', 'PPLCH', 'PPLW'];
const capital = 'PPLC';
const partOfPlace = 'PPLX';
const firstZoomOfParts = 10;

const leastOfRank = [5_000_000, 1_000_000, 500_000, 200_000, 100_000, 50_000, 20_000, 10_000, 2_000];

/**
 * Places, the most important first, parts of places last: others are shown earlier, so they must have their squares
 * before. `class` is city, town, village or suburb, `rank` 1 (from five million inhabitants) to 10, `capital` true for
 * those of countries, `min_zoom` the first zoom at which the place is shown.
 */
export function placeLabels(cities: readonly City[]): Feature<Point>[] {
  const shown = new Squares();
  return cities
    .filter(({ featureCode }) => !formerPlaces.includes(featureCode))
    .map((city) => ({ city, weight: weightOf(city) }))
    .sort(
      (a, b) => Number(isPart(a.city)) - Number(isPart(b.city)) || b.weight - a.weight || a.city.cityId - b.city.cityId,
    )
    .map(({ city }) => {
      const zoom = shown.claim(city.loc.coordinates, firstZoomFor(city));
      return toFeature(city, isCapital(city) ? Math.min(zoom, firstZoomOfCapitals) : zoom);
    });
}

function toFeature(city: City, minZoom: number): Feature<Point> {
  return {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [...city.loc.coordinates] },
    properties: {
      name: city.name,
      class: classOf(city),
      rank: 1 + leastOfRank.filter((least) => city.population < least).length,
      min_zoom: minZoom,
      ...(isCapital(city) && { capital: true }),
    },
  };
}

function classOf(city: City): string {
  const { population } = city;
  if (isPart(city)) return 'suburb';
  if (population >= 100_000) return 'city';
  return population >= 10_000 ? 'town' : 'village';
}

const isCapital = ({ featureCode }: City): boolean => featureCode === capital;
const isPart = ({ featureCode }: City): boolean => featureCode === partOfPlace;

function weightOf(city: City): number {
  return isCapital(city) ? Math.max(capitalPopulation, capitalFactor * city.population) : city.population;
}

function firstZoomFor(city: City): number {
  if (isPart(city)) return firstZoomOfParts;
  const least = leastPopulation.findIndex((inhabitants) => city.population >= inhabitants);
  return least < 0 ? leastPopulation.length : least;
}

/** Squares of the map that have a place already, zoom by zoom. */
class Squares {
  private readonly taken = Array.from({ length: lastZoom }, () => new Set<number>());

  /** The first zoom from `firstZoom` on at which the place's square is free; it is taken from there on. */
  claim(position: readonly [number, number], firstZoom: number): number {
    let zoom = firstZoom;
    while (zoom < lastZoom && this.taken[zoom]!.has(squareAt(position, zoom))) zoom++;
    for (let z = zoom; z < lastZoom; z++) this.taken[z]!.add(squareAt(position, z));
    return zoom;
  }
}

function squareAt(position: readonly [number, number], zoom: number): number {
  const [x, y] = worldPixel(position, zoom);
  return Math.floor(y / squarePx) * (worldSizePx(zoom) / squarePx) + Math.floor(x / squarePx);
}
