/** The feature whose points terra-draw moves, and the shape that it stands for. Pure. */
import type { GeoJSONStoreFeatures } from 'terra-draw';
import { allowedRadiusM, distanceM, handleOf, isWithinMap, type Position, roundedPosition, type Shape } from './shape';

/** Returns a copy for terra-draw, which changes the positions that it is given. */
export const mutable = (positions: readonly Position[]): [number, number][] => positions.map(([x, y]) => [x, y]);

const storeFeature = (mode: string, geometry: GeoJSONStoreFeatures['geometry']): GeoJSONStoreFeatures => ({
  type: 'Feature',
  geometry,
  properties: { mode },
});

/**
 * Returns the feature of a shape; undefined: terra-draw cannot show it, because it knows no longitude beyond 180. A
 * circle is the line from its centre to its handle.
 */
export function featureOf(shape: Shape): GeoJSONStoreFeatures | undefined {
  if (!isWithinMap(shape)) return undefined;
  if (shape.type === 'circle') {
    const ends = [shape.centre, handleOf(shape.centre, shape.radiusM)];
    return storeFeature('linestring', { type: 'LineString', coordinates: mutable(ends) });
  }
  if (shape.type === 'point') return storeFeature('point', { type: 'Point', coordinates: [...shape.centre] });
  const points = mutable(shape.points);
  if (points.length === 1) return storeFeature('point', { type: 'Point', coordinates: points[0]! });
  if (points.length === 2) return storeFeature('polyline', { type: 'LineString', coordinates: points });
  return storeFeature('polygon', { type: 'Polygon', coordinates: [[...points, points[0]!]] });
}

/** Returns where the handle of a circle is; undefined: the feature is not that of a circle. */
export const handleIn = ({ properties, geometry }: GeoJSONStoreFeatures): Position | undefined =>
  properties.mode === 'linestring' ? (geometry.coordinates[1] as [number, number]) : undefined;

type Polygon = Extract<Shape, { type: 'polygon' }>;
type Circle = Extract<Shape, { type: 'circle' }>;

/** Points that were not moved stay exactly as they are. */
function movedPolygon(shape: Polygon, geometry: GeoJSONStoreFeatures['geometry']): Polygon {
  const known = new Set(shape.points.map(String));
  const read = (positions: readonly number[][]): Position[] =>
    positions.map(([x, y]) => (known.has(`${x},${y}`) ? [x!, y!] : roundedPosition([x!, y!])));
  if (geometry.type === 'Polygon') return { ...shape, points: read(geometry.coordinates[0]!.slice(0, -1)) };
  if (geometry.type === 'LineString') return { ...shape, points: read(geometry.coordinates) };
  return { ...shape, points: read([geometry.coordinates as number[]]) };
}

function movedCircle(shape: Circle, ends: readonly number[][], handle: Position | undefined): Circle | undefined {
  const [centre, end] = ends as [number, number][];
  if (centre === undefined || end === undefined) return undefined;
  const isPulled = handle !== undefined && (end[0] !== handle[0] || end[1] !== handle[1]);
  if (isPulled) return { ...shape, radiusM: allowedRadiusM(distanceM(shape.centre, end)) };
  return { ...shape, centre: roundedPosition(centre) };
}

/**
 * Returns the shape after terra-draw has moved a point of its feature; undefined: the feature is not that of the shape.
 * @param handle is where the handle of a circle was before.
 */
export function shapeAfter(
  shape: Shape,
  { geometry }: GeoJSONStoreFeatures,
  handle: Position | undefined,
): Shape | undefined {
  if (shape.type === 'polygon') return movedPolygon(shape, geometry);
  if (shape.type === 'point') {
    return geometry.type === 'Point'
      ? { ...shape, centre: roundedPosition(geometry.coordinates as [number, number]) }
      : undefined;
  }
  return geometry.type === 'LineString' ? movedCircle(shape, geometry.coordinates, handle) : undefined;
}

/** terra-draw has more decimals than the form. */
const inForm = ({ properties, geometry }: GeoJSONStoreFeatures): string =>
  JSON.stringify([properties.mode, geometry.coordinates], (_, value: unknown) =>
    typeof value === 'number' ? value.toFixed(6) : value,
  );

/** Tests whether two features look the same in the form. */
export const isSameInForm = (one: GeoJSONStoreFeatures, other: GeoJSONStoreFeatures): boolean =>
  inForm(one) === inForm(other);
