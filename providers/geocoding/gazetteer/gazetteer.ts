/**
 * The embedded geocoder: names of cities, towns and villages, and nothing finer.
 *
 * It answers only if the whole query is the name of a place, narrowed by states and countries. Whatever else a query
 * holds, such as a street or a number, would be ignored by a guess, so the answer is then empty.
 */
import { around } from 'geokdbush';
import KDBush from 'kdbush';
import { LRUCache } from 'lru-cache';
import { distance } from '../../../pipeline/geometry/scale.js';
import type { Position } from '../../../schemas/json/common.js';
import { type Address, type Geocoder, type GeocodingOptions, type GeocodingResult, selected } from '../geocoder.js';
import { type Cities, loadCities } from './cities.js';
import { countryName, folded, knownAs, type Region, regionsByName, stateOf } from './names.js';

/** Beyond this distance from the nearest place a position has no name. */
const maxReverseKm = 50;
/** Cities within this distance of the position that a search prefers come before all others. */
const nearM = 100_000;
/** No city beyond it is near: a degree of latitude is at least 110 km. */
const nearLatitudes = 1;
/** Cities of one prefix that are ranked. */
const maxRanked = 20_000;
/** Prefixes of at most this many characters are kept ranked: 50 kB each at most. */
const shortPrefix = 2;
const maxCachedPrefixes = 200;
/** Maximum number of words of a query. A longer text is not the name of a place. */
const maxWords = 12;

interface Loaded {
  readonly cities: Cities;
  readonly regions: ReadonlyMap<string, readonly Region[]>;
  readonly index: KDBush;
}

/** A name and the regions that must all contain the place. */
interface Reading {
  readonly name: string;
  readonly within: readonly (readonly Region[])[];
}

/** Creates the gazetteer. It loads its data with the first call, in about a third of a second of processor time. */
export function createGazetteer(): Geocoder {
  let loading: Promise<Loaded> | undefined;

  async function load(): Promise<Loaded> {
    const cities = await loadCities();
    const index = new KDBush(cities.count);
    for (let city = 0; city < cities.count; city++) index.add(cities.longitudes[city]!, cities.latitudes[city]!);
    index.finish();
    return { cities, regions: regionsByName(cities.countries), index };
  }

  /** A failed load is tried again with the next call. */
  const loaded = (): Promise<Loaded> => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };

  const ofShortPrefixes = new LRUCache<string, readonly number[]>({ max: maxCachedPrefixes });

  /** Ranks the cities that a query may become. Each first letter that is typed has thousands. */
  function completed({ cities, regions }: Loaded, query: string): readonly number[] {
    const prefix = folded(query);
    const cached = ofShortPrefixes.get(prefix);
    if (cached !== undefined) return cached;
    const readings = prefixReadings(query, regions);
    const matches = ranked(
      cities,
      readings.flatMap((reading) => citiesWithPrefix(cities, reading)),
    );
    if (prefix.length <= shortPrefix) ofShortPrefixes.set(prefix, matches);
    return matches;
  }

  return {
    name: 'gazetteer',
    knowsStreets: false,
    async forward(_, query, options) {
      const data = await loaded();
      const matches = readings(query, data.regions).flatMap((reading) => citiesOf(data.cities, reading));
      return answer(data.cities, ranked(data.cities, matches), options);
    },
    async autocomplete(_, query, options) {
      const data = await loaded();
      return answer(data.cities, completed(data, query), options);
    },
    async reverse(_, [longitude, latitude], options) {
      const { cities, index } = await loaded();
      const nearest = around(index, longitude, latitude, 10 * options.limit, maxReverseKm);
      return answer(cities, nearest, options);
    },
    async close() {
      loading = undefined;
    },
  };
}

/** Makes addresses of the first matches that the options accept, and of no more: a short prefix has thousands. */
function answer(cities: Cities, matches: readonly number[], options: GeocodingOptions): GeocodingResult {
  const value: Address[] = [];
  const { countries, near } = options;
  for (const city of near === undefined ? matches : nearFirst(cities, matches, near)) {
    if (value.length === options.limit) break;
    if (countries !== undefined && !countries.includes(cities.countries[city]!)) continue;
    value.push(...selected([addressOf(cities, city)], options));
  }
  return { ok: true, value };
}

/** Returns the cities near the position, then the others, both in the given order. */
function nearFirst({ longitudes, latitudes }: Cities, matches: readonly number[], [x, y]: Position): number[] {
  const isNear = (city: number): boolean =>
    Math.abs(latitudes[city]! - y) <= nearLatitudes && distance(x, y, longitudes[city]!, latitudes[city]!) <= nearM;
  const near: number[] = [];
  const others: number[] = [];
  for (const city of matches) (isNear(city) ? near : others).push(city);
  return near.concat(others);
}

function addressOf(cities: Cities, city: number): Address {
  const name = cities.names[city]!;
  const code = cities.countries[city]!;
  const state = stateOf(code, cities.regions[city]!);
  const country = countryName(code);
  const position: Position = [cities.longitudes[city]!, cities.latitudes[city]!];
  return {
    position,
    layer: 'locality',
    confidence: 'exact',
    formattedAddress: [name, state?.code, country ?? code].filter(Boolean).join(', '),
    city: name,
    ...(state && { state: state.name, stateCode: state.code }),
    ...(country !== undefined && { country }),
    countryCode: code,
  };
}

/** Each city once, most populous first. */
function ranked({ byRank, ranks }: Cities, matches: readonly number[]): number[] {
  const found = Uint32Array.from(matches, (city) => ranks[city]!).sort();
  return Array.from(found, (rank) => byRank[rank]!).filter((city, index, all) => city !== all[index - 1]);
}

/**
 * Returns the ways to read a query: the first part is the name, and each further part is a state or a country. Without
 * commas, the last words may be states and countries, as in "Paris TX".
 */
function readings(query: string, regions: Loaded['regions']): Reading[] {
  const [first = '', ...rest] = query.split(',').map(folded);
  const within = rest.filter((part) => part !== '').map((part) => regions.get(part) ?? []);
  if (first === '' || within.some((meant) => meant.length === 0)) return [];
  const words = first.split(' ');
  if (words.length > maxWords) return [];
  const whole: Reading[] = [{ name: first, within }];
  return whole.concat(endingsOf(words, regions).map(({ name, region }) => ({ name, within: [...within, region] })));
}

/** Returns the splits of words into a name and a region at their end. */
function endingsOf(words: readonly string[], regions: Loaded['regions']) {
  return words.slice(1).flatMap((_, index) => {
    const region = regions.get(words.slice(index + 1).join(' '));
    return region === undefined ? [] : [{ name: words.slice(0, index + 1).join(' '), region }];
  });
}

/** As {@link readings}, where the last part may be the beginning of a region's name. */
function prefixReadings(query: string, regions: Loaded['regions']): Reading[] {
  const parts = query.split(',').map(folded);
  const last = parts.at(-1) ?? '';
  if (parts.length === 1 || last === '' || regions.has(last)) return readings(query, regions);
  const begun = [...regions].filter(([name]) => name.startsWith(last)).flatMap(([, meant]) => meant);
  const before = readings(parts.slice(0, -1).join(','), regions);
  return begun.length === 0 ? [] : before.map(({ name, within }) => ({ name, within: [...within, begun] }));
}

const isWithin = ({ countries, regions }: Cities, city: number, within: Reading['within']): boolean =>
  within.every((meant) =>
    meant.some(({ country, region }) => countries[city] === country && (region === null || regions[city] === region)),
  );

function citiesOf(cities: Cities, { name, within }: Reading): number[] {
  const names = [name, ...(Object.hasOwn(knownAs, name) ? [knownAs[name]!] : [])];
  return names.flatMap((each) => cities.byName.get(each) ?? []).filter((city) => isWithin(cities, city, within));
}

function citiesWithPrefix(cities: Cities, reading: Reading): number[] {
  const { sortedNames, byName } = cities;
  const matches = citiesOf(cities, reading);
  for (let at = lowerBound(sortedNames, reading.name); at < sortedNames.length; at++) {
    const name = sortedNames[at]!;
    if (!name.startsWith(reading.name) || matches.length >= maxRanked) break;
    for (const city of byName.get(name)!) if (isWithin(cities, city, reading.within)) matches.push(city);
  }
  return matches;
}

/** Returns the index of the first name that is not before `name`. */
function lowerBound(names: readonly string[], name: string): number {
  let [low, high] = [0, names.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (names[middle]! < name) low = middle + 1;
    else high = middle;
  }
  return low;
}
