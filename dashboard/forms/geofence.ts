/** The form of a geofence as a value, and the body that it makes. */
import type { Geofence } from '../../client/types';
import {
  compact,
  degreesOf,
  type MetadataRow,
  metadataOf,
  patchOf,
  quantityOf,
  type RecordBody,
  rowsOf,
  textOf,
} from './draft';
import type { Hours } from './week';

/** A geofence as its form has it: texts, also where they are no numbers yet. */
export interface GeofenceDraft {
  readonly description: string;
  readonly tag: string;
  readonly externalId: string;
  readonly type: Geofence['type'];
  readonly latitude: string;
  readonly longitude: string;
  readonly address: string;
  readonly radius: string;
  readonly minutes: string;
  readonly mode: string;
  /** One `latitude, longitude` a line, without the closing point; or GeoJSON. */
  readonly points: string;
  readonly enabled: boolean;
  readonly dwellThreshold: string;
  readonly stopDetection: 'project' | 'on' | 'off';
  readonly disableAfter: string;
  readonly deleteAfter: string;
  readonly userIds: string;
  readonly ip: string;
  readonly metadata: readonly MetadataRow[];
  readonly hours: Hours | undefined;
}

/** The form of a geofence that does not exist yet. */
export const newGeofence: GeofenceDraft = {
  description: '',
  tag: '',
  externalId: '',
  type: 'circle',
  latitude: '',
  longitude: '',
  address: '',
  radius: '100',
  minutes: '10',
  mode: 'car',
  points: '',
  enabled: true,
  dwellThreshold: '',
  stopDetection: 'project',
  disableAfter: '',
  deleteAfter: '',
  userIds: '',
  ip: '',
  metadata: [],
  hours: undefined,
};

/** In degrees, in the order of GeoJSON. */
export type Position = readonly [longitude: number, latitude: number];

/** Returns the text of a closed ring, without its last point. */
export const pointsText = (ring: readonly Position[]): string =>
  ring
    .slice(0, -1)
    .map(([longitude, latitude]) => `${latitude}, ${longitude}`)
    .join('\n');

/**
 * Returns the ring of a GeoJSON geometry, feature, or collection of one feature. Returns all rings where there are
 * several, for the validator to refuse: without its holes or other parts it would be another area.
 */
function ringOfJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 1 && Array.isArray(value[0]?.[0]) ? ringOfJson(value[0]) : value;
  if (typeof value !== 'object' || value === null) return undefined;
  const { geometry, features, coordinates } = value as Record<string, unknown>;
  if (Array.isArray(features)) return features.length === 1 ? ringOfJson(features[0]) : features.map(ringOfJson);
  return geometry ? ringOfJson(geometry) : ringOfJson(coordinates);
}

/** Returns the closed ring, or the text itself when it cannot be read, for the validator to refuse. */
export function ringOf(text: string): readonly Position[] | string {
  const trimmed = text.trim();
  if (/^[[{]/.test(trimmed)) {
    try {
      return (ringOfJson(JSON.parse(trimmed)) as readonly Position[] | undefined) ?? trimmed;
    } catch {
      return trimmed;
    }
  }
  const points = trimmed.split(/[\n;]+/).map((line) =>
    line
      .trim()
      .split(/[\s,]+/)
      .map(Number),
  );
  if (points.some((point) => point.length !== 2 || !point.every(Number.isFinite))) return trimmed;
  const ring = points.map(([latitude, longitude]): Position => [longitude!, latitude!]);
  const [first, last] = [ring[0]!, ring.at(-1)!];
  return first[0] === last[0] && first[1] === last[1] ? ring : [...ring, first];
}

/** Returns the form of a stored geofence. Fields of other shapes have the values of a new one. */
export function draftOf(geofence: Geofence): GeofenceDraft {
  const [longitude, latitude] = geofence.geometryCenter.coordinates;
  const isPolygon = geofence.type === 'polygon';
  const stops = geofence.stopDetection;
  return {
    ...newGeofence,
    description: geofence.description,
    tag: geofence.tag,
    externalId: geofence.externalId,
    type: geofence.type,
    latitude: isPolygon ? '' : String(latitude),
    longitude: isPolygon ? '' : String(longitude),
    address: geofence.address ?? '',
    radius: geofence.type === 'circle' ? String(geofence.geometryRadius) : newGeofence.radius,
    minutes: geofence.type === 'isochrone' ? String(geofence.geometryRadius) : newGeofence.minutes,
    mode: geofence.mode ?? newGeofence.mode,
    points: isPolygon ? pointsText(geofence.geometry?.coordinates[0] ?? []) : '',
    enabled: geofence.enabled,
    dwellThreshold: geofence.dwellThreshold === undefined ? '' : String(geofence.dwellThreshold),
    stopDetection: stops === undefined ? 'project' : stops ? 'on' : 'off',
    disableAfter: geofence.disableAfter ?? '',
    deleteAfter: geofence.deleteAfter ?? '',
    userIds: geofence.userIds ?? geofence.userId ?? '',
    ip: geofence.ip ?? '',
    metadata: rowsOf(geofence.metadata),
    hours: geofence.operatingHours,
  };
}

function coordinatesOf({ type, latitude, longitude, points }: GeofenceDraft): unknown {
  if (type === 'polygon') return points.trim() === '' ? undefined : ringOf(points);
  const [x, y] = [degreesOf(longitude), degreesOf(latitude)];
  return x === undefined && y === undefined ? undefined : [x ?? null, y ?? null];
}

/** Returns the body of the API. Fields that are not set are absent. */
export function bodyOf(draft: GeofenceDraft): Record<string, unknown> {
  const { type } = draft;
  return compact({
    description: textOf(draft.description),
    tag: textOf(draft.tag),
    externalId: textOf(draft.externalId),
    type,
    coordinates: coordinatesOf(draft),
    address: type === 'polygon' ? undefined : textOf(draft.address),
    radius: type === 'circle' ? quantityOf(draft.radius) : type === 'isochrone' ? quantityOf(draft.minutes) : undefined,
    mode: type === 'isochrone' ? draft.mode : undefined,
    enabled: draft.enabled,
    dwellThreshold: quantityOf(draft.dwellThreshold),
    stopDetection: draft.stopDetection === 'project' ? undefined : draft.stopDetection === 'on',
    disableAfter: textOf(draft.disableAfter),
    deleteAfter: textOf(draft.deleteAfter),
    userIds: textOf(draft.userIds),
    ip: textOf(draft.ip),
    metadata: metadataOf(draft.metadata),
    operatingHours: draft.hours,
  });
}

/** Returns the patch that turns a body into another. One that named coordinates alone would remove the address. */
export function patchOfGeofence(before: RecordBody, after: RecordBody): Record<string, unknown> {
  const patch = patchOf(before, after);
  const isMoved = patch.coordinates !== undefined && patch.coordinates !== null;
  return isMoved && after.address !== undefined ? { ...patch, address: after.address } : patch;
}

const earthRadiusM = 6_371_008.8;
const circlePoints = 48;

/** Returns points around a centre, for pictures only: the server measures on the ellipsoid. */
export function circleRing([longitude, latitude]: Position, radiusM: number): readonly Position[] {
  const degrees = 180 / Math.PI;
  const reach = (radiusM / earthRadiusM) * degrees;
  return Array.from({ length: circlePoints + 1 }, (_, index): Position => {
    const angle = (index / circlePoints) * 2 * Math.PI;
    return [
      longitude + (reach * Math.sin(angle)) / Math.max(0.01, Math.cos(latitude / degrees)),
      latitude + reach * Math.cos(angle),
    ];
  });
}
