/**
 * Checks the GeoJSON in `within` and `distance`, which the library of the specification reads unchecked.
 *
 * Input: any JSON, at most as deep as the stack allows. Pure.
 */

const operators: readonly unknown[] = ['within', 'distance'];

/** Returns whether each `within` and `distance` of an expression has GeoJSON with coordinates that fit their type. */
export function hasValidGeoJson(expression: unknown): boolean {
  if (!Array.isArray(expression)) return true;
  const [operator, operand] = expression;
  if (operator === 'literal') return true;
  return operators.includes(operator) ? isGeoJson(operand) : expression.every(hasValidGeoJson);
}

/** Number of lists around the positions of a geometry. */
const depths: Readonly<Record<string, number>> = {
  Point: 0,
  MultiPoint: 1,
  LineString: 1,
  MultiLineString: 2,
  Polygon: 2,
  MultiPolygon: 3,
};

function isGeoJson(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { type, features, geometry, coordinates } = value as Readonly<Record<string, unknown>>;
  if (type === 'FeatureCollection') return Array.isArray(features) && features.every(isGeoJson);
  if (type === 'Feature') return isGeoJson(geometry);
  return typeof type === 'string' && Object.hasOwn(depths, type) && arePositions(coordinates, depths[type]!);
}

function arePositions(value: unknown, depth: number): boolean {
  if (!Array.isArray(value)) return false;
  return depth === 0 ? isPosition(value) : value.every((each) => arePositions(each, depth - 1));
}

const isPosition = (values: readonly unknown[]): boolean =>
  values.length >= 2 && values.every((value) => typeof value === 'number');
