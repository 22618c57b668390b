/** Reads a GeoJSON Feature as fields of a geofence or beacon: its properties, and its geometry as coordinates. Pure. */
import type { RawFields } from '../http/fields/reader.js';
import { isDictionary } from '../http/fields/values.js';
import { invalid, type Validated } from '../schemas/errors.js';

const polygonTypes: readonly unknown[] = ['Polygon', 'MultiPolygon'];

/** Returns the coordinates of a geometry in the form of the fields. */
function coordinatesOf({ type, coordinates }: Record<string, unknown>): Validated<unknown> {
  if (type === 'Point') return { ok: true, value: coordinates };
  const rings = type === 'MultiPolygon' && Array.isArray(coordinates) ? coordinates : [coordinates];
  if (!polygonTypes.includes(type)) return invalid('geometry', 'must be a Point or a Polygon');
  const [polygon] = rings;
  if (rings.length !== 1) return invalid('geometry', `must be one polygon, but has ${rings.length}`);
  if (!Array.isArray(polygon) || polygon.length !== 1) return invalid('geometry', 'must be a polygon without holes');
  return { ok: true, value: polygon[0] };
}

/** Returns the fields of a Feature, or which of them breaks a rule. */
export type ReadFeature = (feature: Readonly<Record<string, unknown>>) => Validated<RawFields>;

/** QGIS and other tools of GDAL write the `id` of a Feature, which an export has, as one of its properties. */
function withoutId(properties: Readonly<Record<string, unknown>>): RawFields {
  const { id: _, ...fields } = properties;
  return fields;
}

/**
 * Returns the fields of a Feature, whose id is ignored. Without a type, a Point is a circle. A polygon that only
 * approximates a circle, as in the API's export, is refused by its type: it would become another fence.
 */
export const featureFields: ReadFeature = ({ properties, geometry }) => {
  const fields = isDictionary(properties) ? withoutId(properties) : {};
  if (geometry === null || geometry === undefined) return { ok: true, value: fields };
  if (!isDictionary(geometry)) return invalid('geometry', 'must be a GeoJSON geometry or null');
  const coordinates = coordinatesOf(geometry);
  if (!coordinates.ok) return coordinates;
  const given = typeof fields.type === 'string' ? fields.type.trim().toLowerCase() : fields.type;
  const isPolygon = geometry.type !== 'Point';
  const isTyped = given !== undefined && given !== null;
  // The type of a beacon says nothing about its geometry.
  if (isTyped && (given === 'polygon') !== isPolygon)
    return invalid('type', `must fit the geometry, which is a ${String(geometry.type)}`);
  const type = isTyped ? {} : { type: isPolygon ? 'polygon' : 'circle' };
  return { ok: true, value: { ...fields, ...type, coordinates: coordinates.value } };
};
