/**
 * Searches of SDKs for addresses and places: geocoding forward, reverse and by IP address, autocomplete, and places
 * near a point.
 *
 * A search whose provider is not configured is answered `not_available`, with the setting to configure.
 */
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import { answerOf, described, success } from '../../http/describe.js';
import { accepted, FieldReader, type Outcome, type RawFields } from '../../http/fields/reader.js';
import { textOf } from '../../http/fields/values.js';
import { normalizeAddress } from '../../http/location/address.js';
import { distance } from '../../pipeline/geometry/scale.js';
import type { Answer } from '../../providers/answer.js';
import {
  type Address,
  type AddressLayer,
  addressLayers,
  type Geocoder,
  type GeocodingOptions,
  maxQueryLength,
} from '../../providers/geocoding/geocoder.js';
import type { IpAddress, IpGeocoder } from '../../providers/geocoding/ip-database.js';
import { ApiError } from '../../schemas/errors.js';
import { Address as AddressSchema, IpAddress as IpAddressSchema } from '../../schemas/json/address.js';
import type { Position } from '../../schemas/json/common.js';
import { type PlaceRecord, PlaceSummary } from '../../schemas/json/place.js';
import { point } from '../../schemas/wire/common.js';
import { placeSummary } from '../../schemas/wire/place.js';
import type { ApiDependencies } from '../dependencies.js';

const tag = 'search';
const config = { authority: 'publishable', limit: 'query', isNullUnset: true } as const;
const configOfText = { ...config, unescapedText: 'query' } as const;

const defaultResults = 10;
const maxResults = 100;
const minPlaceRadiusM = 1;
const maxPlaceRadiusM = 10_000;
const defaultPlaceRadiusM = 1_000;

const coarse: readonly AddressLayer[] = ['postalCode', 'neighborhood', 'locality', 'county', 'state', 'country'];
const fine: readonly AddressLayer[] = ['address', 'place', 'street'];

const ofEach = <T>(value: T | undefined, make: (value: T) => object): object =>
  value === undefined ? {} : make(value);

/** Two regional indicators make a flag. */
const flagOf = (countryCode: string): string =>
  String.fromCodePoint(...[...countryCode].map((letter) => 0x1f1e6 + letter.charCodeAt(0) - 65));

function addressJson({ position, ...parts }: Address, from?: Position) {
  const [longitude, latitude] = position;
  const { number, street, placeLabel, city, state, country, layer } = parts;
  const first = [number, street].filter(Boolean).join(' ');
  const named = placeLabel ?? (layer === 'locality' ? city : layer === 'state' ? state : country);
  return {
    latitude,
    longitude,
    geometry: point(longitude, latitude),
    ...parts,
    ...ofEach(first === '' ? named : first, (addressLabel) => ({ addressLabel })),
    ...ofEach(parts.countryCode, (code) => ({ countryFlag: flagOf(code) })),
    ...ofEach(from, (center) => ({ distance: Math.round(distance(...center, longitude, latitude)) })),
  };
}

function ipAddressJson({ position: [longitude, latitude], accuracyM, ...parts }: IpAddress) {
  return {
    latitude,
    longitude,
    geometry: point(longitude, latitude),
    ...parts,
    ...ofEach(accuracyM, (accuracy) => ({ accuracy })),
    ...ofEach(parts.countryCode, (code) => (/^[A-Z]{2}$/.test(code) ? { countryFlag: flagOf(code) } : {})),
  };
}

const textsOf = (reader: FieldReader, name: string): string[] =>
  (reader.list(name) ?? []).map((item) => textOf(item)?.trim() ?? '').filter((text) => text !== '');

/** Layers of several layers. Apps of the web SDK 4.1 ask for intersections, which no geocoder here has. */
const groups: Readonly<Record<string, readonly AddressLayer[]>> = { coarse, fine, intersection: [] };

function readLayers(reader: FieldReader): readonly AddressLayer[] | undefined {
  const names = textsOf(reader, 'layers');
  const known: readonly string[] = [...addressLayers, ...Object.keys(groups)];
  if (names.some((name) => !known.includes(name))) reader.refuse('layers', `must be some of ${known.join(', ')}`);
  return names.length === 0 ? undefined : names.flatMap((name) => groups[name] ?? [name as AddressLayer]);
}

/** Reads comma-separated country codes. */
function readCountries(reader: FieldReader, name: string): readonly string[] | undefined {
  const codes = textsOf(reader, name).map((code) => code.toUpperCase());
  if (codes.some((code) => !/^[A-Z]{2}$/.test(code)))
    reader.refuse(name, 'must be codes of two letters, such as US,CA');
  return codes.length === 0 ? undefined : codes;
}

function readLanguage(reader: FieldReader): string | undefined {
  const language = reader.text('lang')?.trim().slice(0, 2).toLowerCase();
  if (language !== undefined && !/^[a-z]{2}$/.test(language)) reader.refuse('lang', 'must be a code of two letters');
  return language;
}

const readResults = (reader: FieldReader): number =>
  reader.integer('limit', { minimum: 1, maximum: maxResults }) ?? defaultResults;

interface AddressQuery {
  readonly query: string;
  readonly options: GeocodingOptions;
}

function readAddressQuery(query: RawFields): Outcome<AddressQuery> {
  const reader = new FieldReader(query);
  const text = reader.requiredText('query', maxQueryLength);
  const near = reader.latitudeLongitude('near');
  const limit = readResults(reader);
  const layers = readLayers(reader);
  // The web SDK sends `countryCode` to autocomplete. Mobile SDKs, and all SDKs elsewhere, send `country`.
  const countries = readCountries(reader, 'country') ?? readCountries(reader, 'countryCode');
  const postalCode = reader.text('postalCode')?.trim();
  const language = readLanguage(reader);
  return reader.outcome(() => ({
    query: text,
    options: {
      limit,
      ...(near && { near }),
      ...(layers && { layers }),
      ...(countries && { countries }),
      ...(postalCode !== undefined && { postalCode }),
      ...(language !== undefined && { language }),
    },
  }));
}

function readReverseQuery(query: RawFields): Outcome<{ position: Position; options: GeocodingOptions }> {
  const reader = new FieldReader(query);
  const position = reader.required('coordinates', reader.latitudeLongitude('coordinates'));
  const limit = readResults(reader);
  const layers = readLayers(reader);
  const language = readLanguage(reader);
  return reader.outcome(() => ({
    position: position as Position,
    options: { limit, ...(layers && { layers }), ...(language !== undefined && { language }) },
  }));
}

function readPlaceQuery(query: RawFields) {
  const reader = new FieldReader(query);
  const near = reader.required('near', reader.latitudeLongitude('near'));
  const range = { minimum: minPlaceRadiusM, maximum: maxPlaceRadiusM, unit: 'metres' };
  const radiusM = reader.number('radius', range) ?? defaultPlaceRadiusM;
  const limit = readResults(reader);
  const chains = textsOf(reader, 'chains');
  // Groups of categories are categories of the catalogue here.
  const categories = [...textsOf(reader, 'categories'), ...textsOf(reader, 'groups')];
  const accepts = (place: PlaceRecord): boolean =>
    (chains.length === 0 || (place.chain !== null && chains.includes(place.chain.slug))) &&
    (categories.length === 0 || place.categories.some((category) => categories.includes(category)));
  return reader.outcome(() => ({ near: near as Position, radiusM, limit, accepts }));
}

function readIp(query: RawFields): Outcome<string | null> {
  const reader = new FieldReader(query);
  const text = reader.text('ip') ?? null;
  const ip = text === null ? null : normalizeAddress(text);
  if (ip === undefined) reader.refuse('ip', 'must be an IP address');
  return reader.outcome(() => ip ?? null);
}

const addressParameters = {
  layers: Type.Optional(
    Type.String({ description: `Comma-separated: ${addressLayers.join(', ')}, coarse, fine or intersection` }),
  ),
  lang: Type.Optional(Type.String({ description: 'Two letters of ISO 639-1' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxResults, default: defaultResults })),
};
const near = Type.String({ description: 'latitude,longitude in degrees' });
const countries = Type.String({ description: 'Comma-separated codes of two letters' });
const queryText = Type.String({ maxLength: maxQueryLength });
const addressAnswer = answerOf({ addresses: Type.Array(AddressSchema) });

const addressesOf = (result: Answer<readonly Address[]>, from?: Position) => ({
  meta: success,
  addresses: accepted(result).map((address) => addressJson(address, from)),
});

function configured(geocoder: Geocoder | undefined): Geocoder {
  if (geocoder !== undefined) return geocoder;
  throw new ApiError('not_available', 'geocoding is switched off; set geocoding.provider');
}

function addGeocodingRoutes(app: FastifyInstance, geocoder: Geocoder | undefined): void {
  app.get('/v1/geocode/forward', {
    config: configOfText,
    schema: described({
      operationId: 'geocode',
      tag,
      summary: 'Find the positions of an address, best first',
      querystring: Type.Object({ query: queryText, country: Type.Optional(countries), ...addressParameters }),
      answer: addressAnswer,
    }),
    handler: async (request) => {
      const { query, options } = accepted(readAddressQuery(request.query as RawFields));
      return addressesOf(await configured(geocoder).forward(callerOf(request).project, query, options));
    },
  });

  app.get('/v1/geocode/reverse', {
    config,
    schema: described({
      operationId: 'reverseGeocode',
      tag,
      summary: 'Find the addresses at a position, nearest first',
      querystring: Type.Object({ coordinates: near, ...addressParameters }),
      answer: addressAnswer,
    }),
    handler: async (request) => {
      const { position, options } = accepted(readReverseQuery(request.query as RawFields));
      return addressesOf(await configured(geocoder).reverse(callerOf(request).project, position, options), position);
    },
  });
}

function addIpRoute(app: FastifyInstance, ipGeocoder: IpGeocoder | undefined): void {
  app.get('/v1/geocode/ip', {
    config,
    schema: described({
      operationId: 'geocodeIp',
      tag,
      summary: 'Find where an IP address is',
      querystring: Type.Object({
        ip: Type.Optional(Type.String({ description: "Default: the caller's" })),
      }),
      answer: answerOf({
        ip: Type.String(),
        address: Type.Optional(IpAddressSchema),
        proxy: Type.Boolean({ description: 'Always false: it is not known' }),
      }),
    }),
    handler: async (request) => {
      if (ipGeocoder === undefined)
        throw new ApiError('not_available', 'geocoding by IP address needs a database; set geocoding.ipDatabase');
      const given = accepted(readIp(request.query as RawFields));
      const ip = given ?? normalizeAddress(request.ip) ?? request.ip;
      const address = accepted(await ipGeocoder.locate(ip));
      return { meta: success, ip, ...(address && { address: ipAddressJson(address) }), proxy: false };
    },
  });
}

function addAutocompleteRoutes(app: FastifyInstance, geocoder: Geocoder | undefined): void {
  app.get('/v1/search/autocomplete', {
    config: configOfText,
    schema: described({
      operationId: 'autocomplete',
      tag,
      summary: 'Complete an address',
      querystring: Type.Object({
        query: queryText,
        near: Type.Optional(near),
        countryCode: Type.Optional(countries),
        country: Type.Optional(Type.String({ description: 'The same as countryCode' })),
        postalCode: Type.Optional(
          Type.String({ description: 'Leaves out addresses of another postal code; those without one stay' }),
        ),
        ...addressParameters,
      }),
      answer: addressAnswer,
    }),
    handler: async (request) => {
      const { query, options } = accepted(readAddressQuery(request.query as RawFields));
      return addressesOf(
        await configured(geocoder).autocomplete(callerOf(request).project, query, options),
        options.near,
      );
    },
  });

  app.post('/v1/search/autocomplete/click', {
    config: { ...config, isRepeatable: true },
    schema: described({
      operationId: 'reportAutocompleteClick',
      tag,
      summary: 'Report which result was chosen, as SDKs do; nothing is stored',
      body: Type.Object({}),
      answer: answerOf(),
    }),
    handler: async () => ({ meta: success }),
  });
}

function addPlaceRoute(app: FastifyInstance, configuration: ApiDependencies['configuration']): void {
  app.get('/v1/search/places', {
    config,
    schema: described({
      operationId: 'searchPlaces',
      tag,
      summary: 'List the places of the catalogue near a point, nearest first',
      querystring: Type.Object({
        near,
        radius: Type.Optional(
          Type.Number({
            minimum: minPlaceRadiusM,
            maximum: maxPlaceRadiusM,
            default: defaultPlaceRadiusM,
            description: 'Metres',
          }),
        ),
        chains: Type.Optional(Type.String({ description: 'Comma-separated slugs; any of them' })),
        categories: Type.Optional(Type.String({ description: 'Comma-separated; any of them' })),
        groups: Type.Optional(Type.String({ description: 'The same as categories' })),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxResults, default: defaultResults })),
      }),
      answer: answerOf({ places: Type.Array(PlaceSummary) }),
    }),
    handler: async (request) => {
      const { project, environment } = callerOf(request);
      const search = accepted(readPlaceQuery(request.query as RawFields));
      const places = await configuration.places.near({ project, environment, ...search });
      return { meta: success, places: places.map(({ record, distanceM }) => placeSummary(record, distanceM)) };
    },
  });
}

/** Serves geocoding, autocomplete and the search of places. Throws `not_available` when no provider is configured. */
export const addressRoutes =
  ({ configuration, geometrySources: { geocoder }, ipGeocoder }: ApiDependencies): FastifyPluginAsync =>
  async (app) => {
    addGeocodingRoutes(app, geocoder);
    addIpRoute(app, ipGeocoder);
    addAutocompleteRoutes(app, geocoder);
    addPlaceRoute(app, configuration);
  };
