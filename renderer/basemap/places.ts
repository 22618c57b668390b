/**
 * Selects the populated places of each zoom, so that maps of metropolises and of deserts both show some names. Pure.
 */

import type { Feature, Point } from 'geojson';
import { worldPixel, worldSizePx } from '../view/projection.js';
import type { City } from './packages.js';

/** Side of a square with at most one new place, in pixels of a world 512 wide at zoom 0. */
const squarePx = 64;

/** Zoom of places that never win a square. */
const lastZoom = 11;

/** Minimum population of places by zoom, even for isolated ones. */
const leastPopulation = [2_000_000, 1_000_000, 500_000, 200_000, 50_000, 10_000, 2_000];

/** A capital counts as a city of several times its size, and is always shown from this zoom. */
const capitalFactor = 4;
const capitalPopulation = 200_000;
const firstZoomOfCapitals = 3;

/** Feature codes of places that no longer exist: abandoned, historical, destroyed. */
const formerPlaces = ['PPLQ', 'PPLH', 'PPLCH', 'PPLW'];
const capital = 'PPLC';
const partOfPlace = 'PPLX';
const firstZoomOfParts = 10;

const leastOfRank = [5_000_000, 1_000_000, 500_000, 200_000, 100_000, 50_000, 20_000, 10_000, 2_000];

/**
 * Returns the places, the most important first and parts of places last, because squares are taken in this order.
 * `class` is city, town, village or suburb. `rank` is 1 (from five million inhabitants) to 10. `capital` marks capitals
 * of countries. `min_zoom` is the first zoom of the place.
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

/** Squares that already have a place, by zoom. */
class Squares {
  private readonly taken = Array.from({ length: lastZoom }, () => new Set<number>());

  /** Returns the first zoom from `firstZoom` at which the place's square is free, and takes it from there on. */
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
