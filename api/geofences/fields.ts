/** The fields of a geofence: the one table and the validator that combines them. Pure. */
import Type from 'typebox';
import { FieldReader, maxNameLength, maxTextLength, type Outcome, type RawFields } from '../../http/fields/reader.js';
import { readPosition } from '../../http/fields/structures.js';
import {
  answeredFields,
  booleanField,
  dateField,
  type EarlierValues,
  field,
  ignoredField,
  numberField,
  readTable,
  required,
  textField,
  unknownField,
  type ValuesOf,
  withDefault,
} from '../../http/fields/table.js';
import { numberOf, textOf } from '../../http/fields/values.js';
import { parseAddressRanges } from '../../pipeline/evaluation/addresses.js';
import { parseOperatingHours } from '../../pipeline/evaluation/hours.js';
import { normalizeRing } from '../../pipeline/geometry/ring.js';
import { maxQueryLength } from '../../providers/geocoding/geocoder.js';
import { fieldError, parameterError } from '../../schemas/errors.js';
import { Position } from '../../schemas/json/common.js';
import { maxRingPoints, minRingPoints, type TravelMode, travelModes } from '../../schemas/json/constants.js';
import {
  Geofence,
  type GeofenceRecord,
  GeofenceType,
  maxCircleRadiusM,
  maxIsochroneMinutes,
  minCircleRadiusM,
  minIsochroneMinutes,
  type OperatingHours,
} from '../../schemas/json/geofence.js';
import { jsonText, metadataField, type Pair } from '../paired/fields.js';

/** What an owner says about a geofence. The record adds identity, times and the time zone. */
export type GeofenceInput = Omit<
  GeofenceRecord,
  '_id' | 'project' | 'environment' | 'createdAt' | 'updatedAt' | 'timeZone'
>;

/** What an owner says about a geofence whose coordinates are given, and nothing else about its position. */
export type PlainGeofence = Omit<GeofenceInput, 'geometrySource'>;

/** What an owner says about a geofence whose position follows from an address or a place. */
export type SoughtGeofence = Omit<PlainGeofence, 'center' | 'radius'> & {
  /** Null: no coordinates are given. */
  readonly center: Position | null;
  /** Null: of a polygon without coordinates. */
  readonly radius: number | null;
  /** At least one of the two is given. The place takes precedence. */
  readonly sought: { readonly address: string | null; readonly placeId: string | null };
};

/** What an owner says about a geofence, before `resolveGeometry` looks up what is not given as coordinates. */
export type GivenGeofence = PlainGeofence | SoughtGeofence;

/** Returns whether the position follows from an address or a place, and must be looked up. */
export const isSought = (given: GivenGeofence): given is SoughtGeofence => 'sought' in given;

/** The geometry as far as the coordinates give it. The radius of a circle or isochrone is a field of its own. */
type Shape = Pick<GeofenceRecord, 'center' | 'ring'> & { readonly radius: number | null };

/** Most users that a geofence can be limited to. */
export const maxUserIds = 1_000;
const maxAddressesLength = 16_384;

const date = 'A date, an ISO 8601 date and time, or a form such as "Jan 1, 2029"; UTC unless it names a zone';

/** The fields of a geofence in requests. */
export const geofenceFields = {
  description: required(textField({ maxLength: maxTextLength })),
  type: required(
    field((reader, name) => reader.choice(name, ['circle', 'polygon', 'isochrone']), GeofenceType, {
      description: 'In any case; isochrone: the area from which the centre is reached within a travel time',
    }),
  ),
  tag: required(textField()),
  externalId: required(textField()),
  placeId: textField({}, 'The `_id` of a place, whose geometry the geofence takes and follows'),
  address: field(
    // The address of a polygon is ignored.
    (reader, name, { type }) => (type === 'polygon' ? null : reader.text(name, maxQueryLength)),
    Type.String({ maxLength: maxQueryLength }),
    { description: 'Circle or isochrone: the centre. Coordinates take precedence and must be near it' },
  ),
  coordinates: field(
    readShape,
    Type.Union([Position, Type.Array(Position, { minItems: minRingPoints, maxItems: maxRingPoints }), jsonText]),
    {
      description:
        'Circle: the centre. Isochrone: the destination. Polygon: a closed ring. Required without address and placeId',
    },
  ),
  radius: field(readRadius, Type.Number({ minimum: minIsochroneMinutes, maximum: maxCircleRadiusM }), {
    description:
      `Circle: ${minCircleRadiusM} to ${maxCircleRadiusM} metres. ` +
      `Isochrone: ${minIsochroneMinutes} to ${maxIsochroneMinutes} minutes. Required for both`,
  }),
  mode: field(readMode, Type.Enum([...travelModes]), { description: 'Travel mode; required for an isochrone' }),
  enabled: withDefault(booleanField(), true),
  metadata: metadataField,
  operatingHours: field(
    readOperatingHours,
    Type.Union([Type.Record(Type.String(), Type.Array(Type.Tuple([Type.String(), Type.String()]))), jsonText]),
    {
      hasKeys: true,
      description:
        'By day, full or three letters: lists of [opening, closing], as 9:30 AM or 09:30; or operatingHours.day',
    },
  ),
  stopDetection: booleanField("Overrides the project's setting"),
  dwellThreshold: numberField({ minimum: 0, unit: 'minutes' }, 'Minutes'),
  disableAfter: dateField(date),
  deleteAfter: dateField(date),
  userIds: field(readUserIds, Type.String(), { description: 'Comma-separated; events for these users only' }),
  // Read together with userIds.
  userId: field(() => null, Type.String(), { description: 'Deprecated: one more of userIds' }),
  ip: field(readAddresses, Type.String(), {
    description: 'Comma-separated addresses, last-octet wildcards and CIDR ranges',
  }),
  tripApproachingThreshold: ignoredField,
};

/**
 * Reads a geofence.
 * @param path the pair that the path names; it replaces that of the fields.
 */
export function readGeofence(fields: RawFields, path?: Pair): Outcome<GivenGeofence> {
  const reader = new FieldReader(path === undefined ? fields : { ...fields, ...path });
  const values = readTable(reader, geofenceFields);
  return reader.outcome(() => {
    const { address, placeId, coordinates } = values;
    const radius = coordinates?.radius ?? values.radius;
    if (coordinates !== null && address === null && placeId === null) {
      // A circle or isochrone without a radius has been refused.
      return givenBy(values, coordinates.center, radius as number, coordinates.ring);
    }
    const { center = null, ring = null } = coordinates ?? {};
    return { ...givenBy(values, center, radius, ring), sought: { address, placeId } };
  });
}

/** Reads a geofence that must be given by coordinates, where nothing can be looked up. */
export function readPlainGeofence(fields: RawFields, path?: Pair): Outcome<PlainGeofence> {
  const unknown = unknownField(geofenceFields, fields, answeredFields(Geofence.properties));
  if (unknown !== undefined) return { ok: false, error: parameterError(unknown) };
  const read = readGeofence(fields, path);
  if (!read.ok) return read;
  const given = read.value;
  if (given.type === 'isochrone') {
    const rule = 'isochrones are not computed here; use the polygon of the geofence';
    return { ok: false, error: fieldError('not_available', { param: 'type', rule }) };
  }
  if (!isSought(given)) return { ok: true, value: given };
  const param = given.sought.placeId === null ? 'address' : 'placeId';
  return { ok: false, error: fieldError('not_available', { param, rule: 'is not looked up here; give coordinates' }) };
}

/** Returns the values with the geometry. One literal: fields that are added to a copy take an import 4 µs a row. */
function givenBy<Center, Radius>(
  values: ValuesOf<typeof geofenceFields>,
  center: Center,
  radius: Radius,
  ring: PlainGeofence['ring'],
) {
  return {
    tag: values.tag,
    externalId: values.externalId,
    description: values.description,
    type: values.type,
    mode: values.mode,
    enabled: values.enabled,
    metadata: values.metadata,
    operatingHours: values.operatingHours,
    stopDetection: values.stopDetection,
    dwellThreshold_min: values.dwellThreshold,
    disableAfter: values.disableAfter,
    deleteAfter: values.deleteAfter,
    userIds: values.userIds,
    ip: values.ip,
    center,
    radius,
    ring,
  };
}

function readShape(reader: FieldReader, name: string, { type, address, placeId }: EarlierValues): Shape | null {
  const coordinates = reader.structure(name);
  if (coordinates === undefined) return address || placeId ? null : reader.refuse(name, 'is required');
  if (type === 'polygon') {
    const normal = reader.take(normalizeRing(withNumbers(coordinates)));
    return normal && { center: normal.centroid, radius: normal.radiusM, ring: normal.ring };
  }
  const center = reader.take(readPosition(name, coordinates));
  return center && { center, radius: null, ring: null };
}

/** Returns a ring, or a ring within a list, with its texts of numbers as numbers. */
function withNumbers(value: unknown, depth = 3): unknown {
  if (Array.isArray(value)) return depth > 0 ? value.map((item) => withNumbers(item, depth - 1)) : value;
  return numberOf(value) ?? value;
}

function readRadius(reader: FieldReader, name: string, { type }: EarlierValues): number | null {
  if (type === 'polygon') return null;
  const isIsochrone = type === 'isochrone';
  if (reader.value(name) === undefined)
    return reader.refuse(name, `is required for ${isIsochrone ? 'an isochrone' : 'a circle'}`);
  return reader.number(
    name,
    isIsochrone
      ? { minimum: minIsochroneMinutes, maximum: maxIsochroneMinutes, unit: 'minutes' }
      : { minimum: minCircleRadiusM, maximum: maxCircleRadiusM, unit: 'metres' },
  );
}

function readMode(reader: FieldReader, name: string, { type }: EarlierValues): TravelMode | null {
  const mode = reader.choice(name, travelModes);
  return type === 'isochrone' && reader.value(name) === undefined
    ? reader.refuse(name, `is required for an isochrone; it must be one of ${travelModes.join(', ')}`)
    : mode;
}

/** The list of a day may be JSON text, as columns carry it. */
function readOperatingHours(reader: FieldReader, name: string): OperatingHours | null {
  const days = reader.dictionary(name);
  if (days === undefined) return null;
  const parsed = Object.entries(days).map(([day, pairs]) => [day, reader.structure(name, pairs)]);
  return reader.take(parseOperatingHours(Object.fromEntries(parsed)));
}

/**
 * Returns each user id once, in the order given. The deprecated `userId` is one more. An empty list is refused: without
 * ids the geofence is for everyone.
 */
function readUserIds(reader: FieldReader, name: string): string[] | null {
  const [list, more] = [reader.list(name), reader.list('userId')];
  if (list === undefined && more === undefined) return null;
  const given = [...(list ?? []), ...(more ?? [])];
  const ids = given.map((value) => textOf(value)?.trim());
  if (ids.some((id) => id === undefined || id.length > maxNameLength)) {
    return reader.refuse(name, `must be comma-separated user ids of at most ${maxNameLength} characters`);
  }
  const distinct = [...new Set(ids)].filter((id): id is string => id !== undefined && id !== '');
  if (distinct.length > maxUserIds) return reader.refuse(name, `must name at most ${maxUserIds} users`);
  if (distinct.length === 0) return reader.refuse(name, 'must name at least one user; leave it out for all users');
  return distinct;
}

/** Returns the ranges of a list as one text. An empty list is refused: without ranges the geofence is for everyone. */
function readAddresses(reader: FieldReader, name: string): string | null {
  const list = reader.list(name);
  if (list === undefined) return null;
  const text = list.map((value) => textOf(value) ?? '').join(',');
  if (text.length > maxAddressesLength)
    return reader.refuse(name, `must have at most ${maxAddressesLength} characters`);
  return reader.take(parseAddressRanges(text));
}
