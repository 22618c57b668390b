/**
 * Selects the populated places of each zoom, so that maps of metropolises and of deserts both show some names. Pure.
 */
import type { Feature, Point } from 'geojson';
import { worldPixel, worldSizePx } from '../view/projection.js';
import { ownLanguage } from './names.js';
import type { City, CityNames } from './packages.js';

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

/**
 * Entries that are not cities, although their populations are those of one. They are a district (Pasragad Branch), a
 * beach (Dadonghai), a village (Nangi), a copy of Balikpapan, and Zhongshan at the wrong place.
 */
const wrongEntries = [10630176, 1917790, 8224624, 1348818, 1915223];

/** English names of cities for which the data has a name that nobody uses. */
const englishNames = new Map([[292968, 'Abu Dhabi']]);

/** Endings of areas in English names of cities: Billings, not Billings Metropolitan Area. */
const administrative = / (Metropolitan Area|Municipality|Prefecture)$/;

/** Names of cities that were renamed after the data was extracted: Nur-Sultan is Astana again. */
const renamed = new Map([
  [
    1526273,
    new Map([
      ...([
        ['en', 'Astana'],
        ['kk', 'Астана'],
        ['ru', 'Астана'],
        ['uk', 'Астана'],
        ['ar', 'أستانا'],
      ] as const),
      ...([
        ['fa', 'آستانه'],
        ['ja', 'アスタナ'],
        ['ko', '아스타나'],
        ['zh', '阿斯塔纳'],
        ['zh-Hant', '阿斯塔納'],
      ] as const),
    ]),
  ],
]);

/**
 * A place counts as one of fewer inhabitants when few languages have a name for it. It is then a part of a larger city,
 * or its population is that of a district. It counts as one of more when most languages have one.
 */
const renownFactors: readonly (readonly [languages: number, factor: number])[] = [
  [2, 0.1],
  [4, 0.25],
  [10, 0.5],
  [30, 1],
  [60, 1.5],
];
const greatestFactor = 2.5;
/** A seat of a province, such as Saitama, is no part of a larger city. Few languages name a seat that is a district. */
const seatOfProvince = 'PPLA';
const leastOfSeats = { languages: 3, factor: 0.5 };
const leastRenowned = 20_000;

const leastOfRank = [5_000_000, 1_000_000, 500_000, 200_000, 100_000, 50_000, 20_000, 10_000, 2_000];

/**
 * Returns the places, the most important first and parts of places last, because squares are taken in this order.
 * `class` is city, town, village or suburb. `rank` is 1 (from five million inhabitants) to 10. `order` is lower for
 * more important places. `capital` marks capitals of countries. `min_zoom` is the first zoom of the place. `name` is
 * the local name, and `name:xx` the name in a language where it differs from `name:en`.
 */
export function placeLabels(cities: readonly City[], names: ReadonlyMap<number, CityNames>): Feature<Point>[] {
  const shown = new Squares();
  return cities
    .filter(({ cityId, featureCode }) => !formerPlaces.includes(featureCode) && !wrongEntries.includes(cityId))
    .map((city) => ({ city, weight: weightOf(city, names.get(city.cityId)?.renown ?? 0) }))
    .sort(
      (a, b) => Number(isPart(a.city)) - Number(isPart(b.city)) || b.weight - a.weight || a.city.cityId - b.city.cityId,
    )
    .map(({ city, weight }) => {
      const zoom = shown.claim(city.loc.coordinates, firstZoomFor(city, weight));
      const minZoom = isCapital(city) ? Math.min(zoom, firstZoomOfCapitals) : zoom;
      return toFeature(city, weight, minZoom, renamed.get(city.cityId) ?? names.get(city.cityId)?.names);
    });
}

function toFeature(city: City, weight: number, minZoom: number, names?: CityNames['names']): Feature<Point> {
  return {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [...city.loc.coordinates] },
    properties: {
      ...namesOf(city, names),
      class: classOf(city),
      rank: 1 + leastOfRank.filter((least) => weight < least).length,
      order: orderOf(weight),
      min_zoom: minZoom,
      ...(isCapital(city) && { capital: true }),
    },
  };
}

function namesOf({ cityId, name, country }: City, known: CityNames['names'] = new Map()): Record<string, string> {
  const english = (englishNames.get(cityId) ?? known.get('en') ?? name).replace(administrative, '');
  const names = known.has('en') ? new Map([...known, ['en', english]]) : known;
  const language = ownLanguage(country) ?? '';
  // Traditional names are kept where they differ.
  const own = names.get(language) ?? names.get(language.slice(0, 2)) ?? english;
  const translated = [...names].map(([language, text]) => [`name:${language}`, text]);
  return {
    name: own,
    ...Object.fromEntries(translated),
    ...(names.size > 0 && own !== english && { 'name:en': english }),
  };
}

/** Returns whole numbers that sort places by weight, so that labels of several tiles have one order. */
const orderOf = (weight: number): number => Math.round(100 * (8 - Math.log10(Math.max(1, weight))));

function classOf(city: City): string {
  const { population } = city;
  if (isPart(city)) return 'suburb';
  if (population >= 100_000) return 'city';
  return population >= 10_000 ? 'town' : 'village';
}

const isCapital = ({ featureCode }: City): boolean => featureCode === capital;
const isPart = ({ featureCode }: City): boolean => featureCode === partOfPlace;

function weightOf(city: City, renown: number): number {
  if (isCapital(city)) return Math.max(capitalPopulation, capitalFactor * city.population);
  const byRenown = renownFactors.find(([languages]) => renown <= languages)?.[1] ?? greatestFactor;
  const isSeat = city.featureCode === seatOfProvince && renown >= leastOfSeats.languages;
  const factor = isSeat ? Math.max(leastOfSeats.factor, byRenown) : byRenown;
  // Places too small for names in other languages are compared by inhabitants alone.
  return city.population < leastRenowned ? city.population : Math.max(leastRenowned, factor * city.population);
}

function firstZoomFor(city: City, weight: number): number {
  if (isPart(city)) return firstZoomOfParts;
  const counted = isCapital(city) ? city.population : weight;
  const least = leastPopulation.findIndex((inhabitants) => counted >= inhabitants);
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
