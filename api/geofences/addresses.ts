/** Looks up the address of a geofence, and compares it with the coordinates that are given beside it. */
import type { Outcome } from '../../http/fields/reader.js';
import type { Scope } from '../../pipeline/catalog/types.js';
import { distance } from '../../pipeline/geometry/scale.js';
import { refusal } from '../../providers/answer.js';
import type { Address, Geocoder } from '../../providers/geocoding/geocoder.js';
import { type ApiError, fieldError, parameterError } from '../../schemas/errors.js';
import type { Position } from '../../schemas/json/common.js';
import type { AddressSource, GeofenceRecord } from '../../schemas/json/geofence.js';
import type { GeometrySources } from '../dependencies.js';
import type { SoughtGeofence } from './fields.js';

/** How far coordinates may be from the address, by what the geocoder found. */
const nearM = { house: 10_000, town: 50_000 } as const;
/** Addresses of one name that are compared with coordinates: there are many Springfields. */
const maxCompared = 50;

/** For whom a geometry is looked up, where, and the record that will be replaced. */
export interface GeometryLookup {
  readonly scope: Scope;
  readonly existing: GeofenceRecord | undefined;
  readonly sources: GeometrySources;
}

interface Located {
  readonly center: Position;
  readonly address: AddressSource;
}

/**
 * Returns the centre: the coordinates if they are given and near the address, else the position of the address. The
 * address of the record that will be replaced is not looked up again unless something changed.
 */
export async function atAddress(
  given: SoughtGeofence,
  query: string,
  { scope: { project }, existing, sources }: GeometryLookup,
): Promise<Outcome<Located>> {
  const before = existing?.geometrySource?.address;
  const isSame = before !== undefined && before.query === query;
  if (isSame && before.warning === null && isStillAt(given.center, existing!, before))
    return { ok: true, value: { center: existing!.center, address: before } };
  const located = await lookUp(project, given.center, query, sources);
  // A warning that says the same again is not a change of the record.
  const isSameWarning = located.ok && isSame && before.warning === located.value.address.warning;
  if (!isSameWarning || given.center === null || !isSamePosition(given.center, existing!.center)) return located;
  return { ok: true, value: { center: given.center, address: before } };
}

/** Returns whether the existing centre is what the address and the coordinates give. */
const isStillAt = (
  center: Position | null,
  { center: current }: GeofenceRecord,
  { position }: AddressSource,
): boolean => position !== null && isSamePosition(current, center ?? position);

/** Asks the geocoder. Coordinates count without a comparison where there is nothing to compare them with. */
async function lookUp(
  project: string,
  center: Position | null,
  query: string,
  { geocoder, clock = Date.now }: GeometrySources,
): Promise<Outcome<Located>> {
  const provider = geocoder?.name ?? null;
  const unchecked = (at: Position, reason: string): Outcome<Located> => {
    const warning = `the address was not compared with the coordinates: ${reason}`;
    const nothing = { formattedAddress: null, position: null };
    return { ok: true, value: { center: at, address: { query, provider, ...nothing, resolvedAt: clock(), warning } } };
  };
  if (geocoder === undefined) {
    return center === null
      ? refusal('not_available', 'geocoding is switched off; set geocoding.provider, or give coordinates', 'address')
      : unchecked(center, 'geocoding is switched off');
  }
  const options = center === null ? { limit: 1 } : { limit: maxCompared, near: center };
  const result = await geocoder.forward(project, query, options);
  if (!result.ok) {
    const { code, message, retryAfterS } = result.error;
    return center === null
      ? { ok: false, error: fieldError(code, { param: 'address', rule: message }, retryAfterS) }
      : unchecked(center, message);
  }
  const found = result.value.filter(({ confidence }) => confidence !== 'fallback');
  const [first] = found;
  if (first === undefined) {
    return center !== null && !geocoder.knowsStreets
      ? unchecked(center, hintOf(geocoder))
      : refusal('address_not_found', notFound(geocoder, query, result.value[0]), 'address');
  }
  const nearest = center === null ? first : found.find((address) => isNear(center, address));
  if (nearest === undefined) return { ok: false, error: tooFar(center!, first) };
  const { position, formattedAddress } = nearest;
  const address = { query, provider, formattedAddress, position, resolvedAt: clock(), warning: null };
  return { ok: true, value: { center: center ?? position, address } };
}

const hintOf = ({ name }: Geocoder): string =>
  `the ${name} knows names of places, but no streets; set geocoding.provider and geocoding.url`;

function notFound(geocoder: Geocoder, query: string, coarser: Address | undefined): string {
  const only = coarser === undefined ? '' : `; ${geocoder.name} knows only ${coarser.formattedAddress}`;
  return `${JSON.stringify(query)} is not found${geocoder.knowsStreets ? only : `: ${hintOf(geocoder)}`}`;
}

const isHouse = ({ layer }: Address): boolean => layer === 'address' || layer === 'place' || layer === 'street';
const reachOf = (address: Address): number => (isHouse(address) ? nearM.house : nearM.town);
const distanceTo = (center: Position, { position }: Address): number => distance(...center, ...position);
const isNear = (center: Position, address: Address): boolean => distanceTo(center, address) <= reachOf(address);

function tooFar(center: Position, address: Address): ApiError {
  // Rounded up, or a distance just beyond the limit would read as the limit.
  const kilometres = (metres: number): string => `${Math.ceil(metres / 1_000)} km`;
  const rule =
    `${address.formattedAddress} is ${kilometres(distanceTo(center, address))} from the coordinates, ` +
    `which must be within ${kilometres(reachOf(address))}`;
  return parameterError({ param: 'address', rule });
}

/** Returns whether two positions are the same numbers. */
export const isSamePosition = (one: Position, other: Position): boolean => one[0] === other[0] && one[1] === other[1];
