/**
 * The request grammars of Nominatim, Photon and Pelias, and how their answers are read. Pure.
 *
 * Answers come from another program: every part is checked, and an answer of another shape is a fault, not a guess.
 */
import type { Position } from '../../schemas/json/common.js';
import { cutText } from '../../schemas/wording.js';
import type { Address, AddressConfidence, AddressLayer, GeocodingOptions } from './geocoder.js';

/** How one geocoding service is asked, and how its answers are read. */
export interface Service {
  readonly name: string;
  /** Return the path and query below the base URL. */
  forward(query: string, options: GeocodingOptions): string;
  reverse(position: Position, options: GeocodingOptions): string;
  /** Null: the service has no such call. */
  readonly autocomplete: ((query: string, options: GeocodingOptions) => string) | null;
  /** Returns the addresses of an answer; undefined if it has another shape. `query` is null in reverse. */
  read(answer: unknown, query: string | null): Address[] | undefined;
}

/** An address as a service answers it, which tells a confidence or not. */
type ReadAddress = Omit<Address, 'confidence'> & Partial<Pick<Address, 'confidence'>>;

type Fields = Readonly<Record<string, unknown>>;
type Parameters = Readonly<Record<string, string | number | undefined>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});

const maxPartCharacters = 300;

/** Returns the first of the named fields that has text. */
function textOf(fields: Fields, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === 'string' && value.trim() !== '')
      return cutText(value.trim(), maxPartCharacters).toWellFormed();
    if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  }
  return undefined;
}

function positionOf(longitude: unknown, latitude: unknown): Position | undefined {
  const [x, y] = [longitude, latitude].map((part) => (typeof part === 'string' && part !== '' ? Number(part) : part));
  const isValid = typeof x === 'number' && typeof y === 'number' && Math.abs(x) <= 180 && Math.abs(y) <= 90;
  return isValid ? [x, y] : undefined;
}

function pathOf(path: string, parameters: Parameters): string {
  const given = Object.entries(parameters).filter(
    (entry): entry is [string, string | number] => entry[1] !== undefined,
  );
  return `${path}?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`;
}

const countryCode = (fields: Fields, ...names: readonly string[]): string | undefined => {
  const code = textOf(fields, ...names)?.toUpperCase();
  return code !== undefined && /^[A-Z]{2}$/.test(code) ? code : undefined;
};

/** Returns the object without keys that are undefined. */
const given = <T extends object>(fields: T): { [Name in keyof T]: Exclude<T[Name], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;

const numbersOf = (text: string): readonly string[] => text.match(/\d+/g) ?? [];

/**
 * A query with a number that the address has nowhere asked for a house. Names of streets have numbers, too, and a query
 * of digits alone is a postal code.
 */
function confidenceOf(query: string | null, address: ReadAddress): AddressConfidence {
  const { layer } = address;
  if (query === null || layer === 'address' || layer === 'place' || !/\p{L}/u.test(query)) return 'exact';
  const { position: _, ...texts } = address;
  const known = numbersOf(Object.values(texts).join(' '));
  return numbersOf(query).every((number) => known.includes(number)) ? 'exact' : 'fallback';
}

/** The most that is asked for, to have enough after a filter by layer or postal code. */
const asked = ({ limit, layers, postalCode }: GeocodingOptions, most: number): number =>
  Math.min(layers === undefined && postalCode === undefined ? limit : 3 * limit, most);

/** Most addresses that are read of one answer. */
const maxRead = 100;

/** Reads each item. An address without a confidence gets the one that follows from the query. */
function readEach(
  items: unknown,
  query: string | null,
  read: (item: Fields) => ReadAddress | undefined,
): Address[] | undefined {
  if (!Array.isArray(items)) return undefined;
  const addresses = items.slice(0, maxRead).map((item) => read(fieldsOf(item)));
  if (addresses.includes(undefined)) return undefined;
  return (addresses as ReadAddress[]).map((address) => ({ confidence: confidenceOf(query, address), ...address }));
}

/** `place_rank` of Nominatim: https://nominatim.org/release-docs/latest/customize/Ranking/ */
function layerOfRank(rank: number, type: string | undefined, hasNumber: boolean): AddressLayer {
  if (type === 'postcode') return 'postalCode';
  if (rank <= 4) return 'country';
  if (rank <= 9) return 'state';
  if (rank <= 12) return 'county';
  if (rank <= 16) return 'locality';
  if (rank <= 25) return 'neighborhood';
  if (rank <= 27) return 'street';
  return hasNumber ? 'address' : 'place';
}

function readNominatim(item: Fields): ReadAddress | undefined {
  const position = positionOf(item.lon, item.lat);
  const formattedAddress = textOf(item, 'display_name');
  if (position === undefined || formattedAddress === undefined) return undefined;
  const parts = fieldsOf(item.address);
  const number = textOf(parts, 'house_number');
  const rank = typeof item.place_rank === 'number' ? item.place_rank : 30;
  const layer = layerOfRank(rank, textOf(item, 'type', 'addresstype'), number !== undefined);
  const region = textOf(parts, 'ISO3166-2-lvl4');
  return {
    position,
    layer,
    formattedAddress,
    ...given({
      placeLabel: rank >= 28 ? textOf(item, 'name') : undefined,
      number,
      street: textOf(parts, 'road', 'pedestrian', 'footway'),
      neighborhood: textOf(parts, 'neighbourhood', 'suburb', 'quarter'),
      city: textOf(parts, 'city', 'town', 'village', 'municipality', 'hamlet'),
      county: textOf(parts, 'county'),
      state: textOf(parts, 'state'),
      stateCode: region?.split('-')[1],
      postalCode: textOf(parts, 'postcode'),
      country: textOf(parts, 'country'),
      countryCode: countryCode(parts, 'country_code'),
    }),
  };
}

const nominatim: Service = {
  name: 'nominatim',
  forward: (query, options) =>
    pathOf('/search', {
      q: query,
      format: 'jsonv2',
      addressdetails: 1,
      limit: asked(options, 40),
      'accept-language': options.language,
      countrycodes: options.countries?.join(',').toLowerCase(),
    }),
  reverse: ([longitude, latitude], { language }) =>
    pathOf('/reverse', {
      lat: latitude,
      lon: longitude,
      format: 'jsonv2',
      addressdetails: 1,
      'accept-language': language,
    }),
  // The usage policy of the public instance forbids it, and the search index knows whole words only.
  autocomplete: null,
  read(answer, query) {
    if (query !== null) return readEach(answer, query, readNominatim);
    if (!isFields(answer)) return undefined;
    return 'error' in answer && !('lat' in answer) ? [] : readEach([answer], query, readNominatim);
  },
};

const photonLayers = new Map<string, AddressLayer>([
  ['house', 'address'],
  ['street', 'street'],
  ['locality', 'neighborhood'],
  ['district', 'neighborhood'],
  ['city', 'locality'],
  ['county', 'county'],
  ['state', 'state'],
  ['country', 'country'],
]);

/** Reads a GeoJSON feature with a point. */
function featurePosition(feature: Fields): Position | undefined {
  const { coordinates } = fieldsOf(feature.geometry);
  return Array.isArray(coordinates) ? positionOf(coordinates[0], coordinates[1]) : undefined;
}

function readPhoton(feature: Fields): ReadAddress | undefined {
  const position = featurePosition(feature);
  if (position === undefined || !isFields(feature.properties)) return undefined;
  const parts = feature.properties;
  const name = textOf(parts, 'name');
  const number = textOf(parts, 'housenumber');
  const isPlace = name !== undefined && parts.type === 'house';
  const layer = isPlace ? 'place' : (photonLayers.get(textOf(parts, 'type') ?? '') ?? (number ? 'address' : 'place'));
  const street = layer === 'street' ? name : textOf(parts, 'street');
  const city = layer === 'locality' ? name : textOf(parts, 'city');
  const state = layer === 'state' ? name : textOf(parts, 'state');
  const house = [street, number].filter(Boolean).join(' ');
  const town = [textOf(parts, 'postcode'), city].filter(Boolean).join(' ');
  const lines = [
    layer === 'street' || layer === 'locality' ? undefined : name,
    house,
    town,
    state,
    textOf(parts, 'country'),
  ];
  const formattedAddress = [...new Set(lines.filter(Boolean))].join(', ');
  if (formattedAddress === '') return undefined;
  return {
    position,
    layer,
    formattedAddress,
    ...given({
      placeLabel: isPlace ? name : undefined,
      number,
      street,
      neighborhood: layer === 'neighborhood' ? name : textOf(parts, 'district', 'locality'),
      city,
      county: textOf(parts, 'county'),
      state,
      postalCode: textOf(parts, 'postcode'),
      country: textOf(parts, 'country'),
      countryCode: countryCode(parts, 'countrycode'),
    }),
  };
}

/** Photon filters by no country, so more is asked for. */
const photonSearch = (query: string, options: GeocodingOptions): string =>
  pathOf('/api', {
    q: query,
    limit: options.countries === undefined ? asked(options, 50) : 50,
    lang: options.language,
    lat: options.near?.[1],
    lon: options.near?.[0],
  });

const photon: Service = {
  name: 'photon',
  forward: photonSearch,
  autocomplete: photonSearch,
  reverse: ([longitude, latitude], options) =>
    pathOf('/reverse', { lat: latitude, lon: longitude, limit: asked(options, 50), lang: options.language }),
  read: (answer, query) => readEach(fieldsOf(answer).features, query, readPhoton),
};

const peliasLayers = new Map<string, AddressLayer>([
  ['address', 'address'],
  ['venue', 'place'],
  ['street', 'street'],
  ['postalcode', 'postalCode'],
  ['neighbourhood', 'neighborhood'],
  ['borough', 'neighborhood'],
  ['locality', 'locality'],
  ['localadmin', 'locality'],
  ['county', 'county'],
  ['macrocounty', 'county'],
  ['region', 'state'],
  ['macroregion', 'state'],
  ['country', 'country'],
  ['dependency', 'country'],
]);

/** Its `match_type` has our names. Searches that complete a name do not tell it. */
const peliasConfidences: readonly unknown[] = ['exact', 'interpolated', 'fallback'] satisfies AddressConfidence[];

function readPelias(feature: Fields): ReadAddress | undefined {
  const position = featurePosition(feature);
  const parts = fieldsOf(feature.properties);
  const formattedAddress = textOf(parts, 'label', 'name');
  if (position === undefined || formattedAddress === undefined) return undefined;
  const layer = peliasLayers.get(textOf(parts, 'layer') ?? '') ?? 'place';
  const { match_type } = parts;
  return {
    position,
    layer,
    formattedAddress,
    ...given({
      confidence: peliasConfidences.includes(match_type) ? (match_type as AddressConfidence) : undefined,
      placeLabel: layer === 'place' ? textOf(parts, 'name') : undefined,
      number: textOf(parts, 'housenumber'),
      street: textOf(parts, 'street'),
      neighborhood: textOf(parts, 'neighbourhood', 'borough'),
      city: textOf(parts, 'locality', 'localadmin'),
      county: textOf(parts, 'county'),
      state: textOf(parts, 'region'),
      stateCode: textOf(parts, 'region_a'),
      postalCode: textOf(parts, 'postalcode'),
      country: textOf(parts, 'country'),
      countryCode: countryCode(parts, 'country_code'),
    }),
  };
}

const peliasSearch = (path: string, query: string, options: GeocodingOptions): string =>
  pathOf(path, {
    text: query,
    size: asked(options, 40),
    lang: options.language,
    'boundary.country': options.countries?.join(','),
    'focus.point.lat': options.near?.[1],
    'focus.point.lon': options.near?.[0],
  });

const pelias: Service = {
  name: 'pelias',
  forward: (query, options) => peliasSearch('/v1/search', query, options),
  autocomplete: (query, options) => peliasSearch('/v1/autocomplete', query, options),
  reverse: ([longitude, latitude], options) =>
    pathOf('/v1/reverse', {
      'point.lat': latitude,
      'point.lon': longitude,
      size: asked(options, 40),
      lang: options.language,
    }),
  read: (answer, query) => readEach(fieldsOf(answer).features, query, readPelias),
};

/** The grammar of each service, by the name that `geocoding.provider` gives it. */
export const services = { nominatim, photon, pelias } as const;
