/**
 * Geocoding: positions of addresses and addresses of positions.
 *
 * Input: a query in words, or a position. Output: addresses, best first, or the error to answer as a value; never an
 * exception. One interface, implemented by an embedded gazetteer and by services over HTTP.
 */
import type { Position } from '../../schemas/json/common.js';
import type { Answer } from '../answer.js';

/** What an address names, from fine to coarse. `place` is a point of interest, such as a shop. */
export const addressLayers = [
  'address',
  'place',
  'street',
  'postalCode',
  'neighborhood',
  'locality',
  'county',
  'state',
  'country',
] as const;
/** What an address stands for, from a house to a country. */
export type AddressLayer = (typeof addressLayers)[number];

/**
 * exact: the address itself. interpolated: estimated between neighbouring house numbers. fallback: something coarser
 * than the query asked for, such as the street of a house.
 */
export type AddressConfidence = 'exact' | 'interpolated' | 'fallback';

/** An address. Parts that the provider does not know are absent. */
export interface Address {
  readonly position: Position;
  readonly layer: AddressLayer;
  readonly confidence: AddressConfidence;
  /** The whole address in one line. */
  readonly formattedAddress: string;
  /** Name of the point of interest. */
  readonly placeLabel?: string;
  readonly number?: string;
  readonly street?: string;
  readonly neighborhood?: string;
  readonly city?: string;
  readonly county?: string;
  readonly state?: string;
  readonly stateCode?: string;
  readonly postalCode?: string;
  readonly country?: string;
  /** Two letters of ISO 3166-1, upper case. */
  readonly countryCode?: string;
}

/** What a caller wants. Absent: no restriction, and names in the provider's language. */
export interface GeocodingOptions {
  /** Most addresses to return. */
  readonly limit: number;
  /** Two letters of ISO 639-1. */
  readonly language?: string;
  /** Two letters of ISO 3166-1, upper case. Only addresses in these countries. */
  readonly countries?: readonly string[];
  /** No addresses of another postal code. Addresses without one, such as cities, stay. */
  readonly postalCode?: string;
  /** Only addresses of these layers. */
  readonly layers?: readonly AddressLayer[];
  /** Prefers addresses near this position, where the provider can. */
  readonly near?: Position;
}

/**
 * Addresses, best first; empty when the provider knows none. Errors: `not_available` if this provider does not support
 * the call, with the setting to change, or refuses the request; `unavailable` if it is unreachable, too slow, or
 * refuses the key; `overloaded` if too much of the project waits for it.
 */
export type GeocodingResult = Answer<readonly Address[]>;

/** Projects share the provider, so each search names the project that asks. */
export interface Geocoder {
  /** Name of the provider, stored with what it resolved. */
  readonly name: string;
  /** false: it knows names of places, but no streets. */
  readonly knowsStreets: boolean;
  /** Returns addresses of a complete query. */
  forward(project: string, query: string, options: GeocodingOptions): Promise<GeocodingResult>;
  /** Returns the addresses at or nearest to a position, nearest first. */
  reverse(project: string, position: Position, options: GeocodingOptions): Promise<GeocodingResult>;
  /** Returns addresses of a query that may be incomplete. */
  autocomplete(project: string, query: string, options: GeocodingOptions): Promise<GeocodingResult>;
  /** Ends requests in flight and frees memory. */
  close(): Promise<void>;
}

/** Most characters of a query. Longer texts are not addresses. */
export const maxQueryLength = 512;

/** Returns a postal code without what people write differently: case, spaces and hyphens. */
const plainCode = (postalCode: string): string => postalCode.replace(/[\s-]/g, '').toLowerCase();

/** Returns the first `limit` addresses in the countries, postal code and layers of the options. */
export function selected(
  addresses: readonly Address[],
  { limit, countries, postalCode: wantedCode, layers }: GeocodingOptions,
): readonly Address[] {
  const isWanted = ({ countryCode, postalCode, layer }: Address): boolean =>
    (countries === undefined || (countryCode !== undefined && countries.includes(countryCode))) &&
    (wantedCode === undefined || postalCode === undefined || plainCode(postalCode) === plainCode(wantedCode)) &&
    (layers === undefined || layers.includes(layer));
  return addresses.filter(isWanted).slice(0, limit);
}
