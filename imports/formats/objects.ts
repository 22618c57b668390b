/** Reads the fields of rows that are JSON: objects of fields, and GeoJSON features. */
import { parseWritableJson } from '../../http/fields/json-text.js';
import type { RawFields } from '../../http/fields/reader.js';
import { malformedTextIn, wellFormedRule } from '../../http/fields/text.js';
import { isDictionary } from '../../http/fields/values.js';
import { brokenByte, type RowProblem, type SourceRow, utf8Rule } from '../source.js';

type Content = SourceRow['content'];

const problem = (column: string, rule: string): { problem: RowProblem } => ({ problem: { column, rule } });

/** Returns what finds a field that the resource does not have. */
export type FindUnknown = (fields: RawFields) => RowProblem | undefined;

/** `[geometry type, type of the fence]`; a beacon's type says nothing about geometry. */
const polygonTypes = new Set(['Polygon', 'MultiPolygon']);

/** Returns the coordinates of a geometry in the form of the fields, or a problem. */
function coordinatesOf({ type, coordinates }: Record<string, unknown>): { value: unknown } | { problem: RowProblem } {
  if (type === 'Point') return { value: coordinates };
  const rings = type === 'MultiPolygon' && Array.isArray(coordinates) ? coordinates : [coordinates];
  if (!polygonTypes.has(type as string)) return problem('geometry', 'must be a Point or a Polygon');
  const [polygon] = rings;
  if (rings.length !== 1) return problem('geometry', `must be one polygon, but has ${rings.length}`);
  if (!Array.isArray(polygon) || polygon.length !== 1) return problem('geometry', 'must be a polygon without holes');
  return { value: polygon[0] };
}

function featureFields({ properties, geometry }: Record<string, unknown>): Content {
  const fields = isDictionary(properties) ? properties : {};
  if (geometry === null || geometry === undefined) return { fields };
  if (!isDictionary(geometry)) return problem('geometry', 'must be a GeoJSON geometry or null');
  const coordinates = coordinatesOf(geometry);
  if ('problem' in coordinates) return coordinates;
  const given = typeof fields.type === 'string' ? fields.type.trim().toLowerCase() : fields.type;
  const isPolygon = geometry.type !== 'Point';
  if (given === undefined || given === null)
    return { fields: { ...fields, type: isPolygon ? 'polygon' : 'circle', coordinates: coordinates.value } };
  if ((given === 'polygon') !== isPolygon)
    return problem('type', `must fit the geometry, which is a ${String(geometry.type)}`);
  return { fields: { ...fields, coordinates: coordinates.value } };
}

/** Reads one object: a GeoJSON feature, whose properties are the fields, or, where allowed, the fields themselves. */
export function objectContent(text: string, findUnknown: FindUnknown, isFeature = false): Content {
  if (text.includes(brokenByte)) return problem('row', utf8Rule);
  const parsed = parseWritableJson(text);
  if (!parsed.ok) return problem('row', `must be JSON: ${parsed.fault}`);
  const { value } = parsed;
  if (!isDictionary(value)) return problem('row', 'must be a JSON object');
  if (isFeature && value.type !== 'Feature') return problem('type', 'must be Feature');
  const malformed = malformedTextIn(value);
  if (malformed !== undefined) return problem(malformed, wellFormedRule);
  const content = value.type === 'Feature' ? featureFields(value) : { fields: value };
  if ('problem' in content) return content;
  const unknown = findUnknown(content.fields);
  return unknown === undefined ? content : { problem: unknown };
}
