/**
 * From the fields of a request, a form or a row to a geofence in normal form. Pure.
 *
 * Every field and rule of the geofence table is here and nowhere else. Fields are checked in the order of the table,
 * and the first that breaks its rule is the one that is named. Unknown fields are the caller's business: see
 * known-fields.ts.
 */

import { FieldReader, maxNameLength, maxTextLength, type Outcome, type RawFields } from '../../http/fields/reader.js';
import { readPosition } from '../../http/fields/structures.js';
import { numberOf, textOf } from '../../http/fields/values.js';
import { parseAddressRanges } from '../../pipeline/evaluation/addresses.js';
import { parseOperatingHours } from '../../pipeline/evaluation/hours.js';
import { normalizeRing } from '../../pipeline/geometry/ring.js';
import {
  type GeofenceRecord,
  type GeofenceType,
  maxCircleRadiusM,
  minCircleRadiusM,
  type OperatingHours,
} from '../../schemas/json/geofence.js';
import { readMetadata } from '../metadata.js';
import type { Pair } from '../pairs.js';

/** What an owner says of a geofence; the record adds identity, times and the time zone. */
export type GeofenceInput = Omit<
  GeofenceRecord,
  '_id' | 'project' | 'environment' | 'createdAt' | 'updatedAt' | 'timeZone'
>;

type Geometry = Pick<GeofenceRecord, 'center' | 'radius' | 'ring'>;

export const travelModes = ['car', 'truck', 'foot', 'bike', 'motorbike'] as const;
export const maxUserIds = 1_000;
const maxAddressesLength = 16_384;

/** @param path the pair that the path names; it wins over that of the fields. */
export function normalizeGeofence(fields: RawFields, path?: Pair): Outcome<GeofenceInput> {
  const reader = new FieldReader({ ...fields, ...path });
  const description = reader.requiredText('description', maxTextLength);
  const type = readType(reader);
  const pair = { tag: reader.requiredText('tag'), externalId: reader.requiredText('externalId') };
  const geometry = readGeometry(reader, type);
  const rest = {
    mode: reader.choice('mode', travelModes),
    enabled: reader.boolean('enabled') ?? true,
    metadata: readMetadata(reader),
    operatingHours: readOperatingHours(reader),
    stopDetection: reader.boolean('stopDetection'),
    dwellThreshold_min: reader.number('dwellThreshold', { minimum: 0, unit: 'minutes' }),
    disableAfter: reader.time('disableAfter'),
    deleteAfter: reader.time('deleteAfter'),
    userIds: readUserIds(reader),
    ip: readAddresses(reader),
  };
  // A missing type or geometry has been noted, so what it is built of is there.
  return reader.outcome(() => ({
    ...pair,
    description,
    type: type as GeofenceType,
    ...(geometry as Geometry),
    ...rest,
  }));
}

function readType(reader: FieldReader): GeofenceType | null {
  const type = reader.requiredChoice('type', ['circle', 'polygon', 'isochrone']);
  if (type === 'isochrone')
    return reader.refuse('type', 'isochrones are not available yet; use circle or polygon', 'not_available');
  return type;
}

function readGeometry(reader: FieldReader, type: GeofenceType | null): Geometry | null {
  if (reader.value('placeId') !== undefined)
    return reader.refuse('placeId', 'places are not available yet', 'not_available');
  // For polygons an address is ignored.
  if (type === 'circle' && reader.value('address') !== undefined) {
    return reader.refuse('address', 'addresses are not available yet; give coordinates', 'not_available');
  }
  const coordinates = reader.structure('coordinates');
  if (coordinates === undefined) return reader.refuse('coordinates', 'is required');
  return type === 'polygon' ? readPolygon(reader, coordinates) : readCircle(reader, coordinates);
}

function readCircle(reader: FieldReader, coordinates: unknown): Geometry | null {
  const center = reader.take(readPosition('coordinates', coordinates));
  const radius = reader.number('radius', { minimum: minCircleRadiusM, maximum: maxCircleRadiusM, unit: 'metres' });
  if (reader.value('radius') === undefined) return reader.refuse('radius', 'is required for a circle');
  return center !== null && radius !== null ? { center, radius, ring: null } : null;
}

function readPolygon(reader: FieldReader, coordinates: unknown): Geometry | null {
  const normal = reader.take(normalizeRing(withNumbers(coordinates)));
  return normal && { center: normal.centroid, radius: normal.radiusM, ring: normal.ring };
}

/** A ring, or a ring within a list, in which numbers may have come as text. */
function withNumbers(value: unknown, depth = 3): unknown {
  if (Array.isArray(value)) return depth > 0 ? value.map((item) => withNumbers(item, depth - 1)) : value;
  return numberOf(value) ?? value;
}

/** The days' lists may be JSON text each, as columns carry them. */
function readOperatingHours(reader: FieldReader): OperatingHours | null {
  const days = reader.dictionary('operatingHours');
  if (days === undefined) return null;
  const parsed = Object.entries(days).map(([day, pairs]) => [day, reader.structure('operatingHours', pairs)]);
  return reader.take(parseOperatingHours(Object.fromEntries(parsed)));
}

/** With the deprecated `userId` as one more; each once, in the order given. */
function readUserIds(reader: FieldReader): string[] | null {
  const given = [...(reader.list('userIds') ?? []), ...(reader.list('userId') ?? [])];
  const ids = given.map((value) => textOf(value)?.trim());
  if (ids.some((id) => id === undefined || id.length > maxNameLength)) {
    return reader.refuse('userIds', `must be comma-separated user ids of at most ${maxNameLength} characters`);
  }
  const distinct = [...new Set(ids)].filter((id): id is string => id !== undefined && id !== '');
  if (distinct.length > maxUserIds) return reader.refuse('userIds', `must name at most ${maxUserIds} users`);
  return distinct.length > 0 ? distinct : null;
}

function readAddresses(reader: FieldReader): string | null {
  const text = reader.text('ip', maxAddressesLength);
  return text === null ? null : reader.take(parseAddressRanges(text));
}
