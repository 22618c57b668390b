/** Shapes between the form, whose draft is text, and the map. Pure. */
import type { BeaconDraft } from '../forms/beacon';
import { degreesOf, quantityOf } from '../forms/draft';
import { circleRing, type GeofenceDraft, type Position, pointsText, ringOf } from '../forms/geofence';
import { maxLatitude, unwrapped } from './antimeridian';

export type { Position };

/** What the map shows of a draft, and changes. */
export type Shape =
  | { readonly type: 'circle'; readonly centre: Position; readonly radiusM: number }
  | { readonly type: 'point'; readonly centre: Position }
  /** In order, without the closing point. Fewer than three points are a polygon that is being drawn. */
  | { readonly type: 'polygon'; readonly points: readonly Position[] };

const minRadiusM = 10;
const maxRadiusM = 10_000;
const earthRadiusM = 6_371_008.8;
const radians = Math.PI / 180;

/** Tests whether this is a position. JSON that was pasted may hold anything in its place. */
function isPosition(position: unknown): boolean {
  const [longitude, latitude] = Array.isArray(position) ? position : [];
  return (
    Number.isFinite(longitude) && Number.isFinite(latitude) && Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90
  );
}

function centreOf({ latitude, longitude }: Pick<GeofenceDraft, 'latitude' | 'longitude'>): Position | undefined {
  const centre: Position = [degreesOf(longitude) ?? Number.NaN, degreesOf(latitude) ?? Number.NaN];
  return isPosition(centre) ? centre : undefined;
}

/** Returns the points of a polygon's draft; undefined if they cannot be read. */
export function pointsOf(text: string): readonly Position[] | undefined {
  if (text.trim() === '') return [];
  const ring = ringOf(text);
  if (typeof ring === 'string' || !ring.every(isPosition)) return undefined;
  const [first, last] = [ring[0]!, ring.at(-1)!];
  const isClosed = ring.length > 1 && first[0] === last[0] && first[1] === last[1];
  return isClosed ? ring.slice(0, -1) : ring;
}

/** Returns the shape of a geofence's draft; undefined while it has none, or one that only the validator can name. */
export function shapeOfGeofence(draft: GeofenceDraft): Shape | undefined {
  if (draft.type === 'polygon') {
    const points = pointsOf(draft.points);
    return points && points.length > 0 ? { type: 'polygon', points } : undefined;
  }
  const centre = centreOf(draft);
  if (centre === undefined) return undefined;
  if (draft.type === 'isochrone') return { type: 'point', centre };
  const radiusM = quantityOf(draft.radius) ?? 0;
  return radiusM > 0 && radiusM <= maxRadiusM ? { type: 'circle', centre, radiusM } : { type: 'point', centre };
}

/** Returns the place of a beacon's draft; undefined while it has none that is valid. */
export function shapeOfBeacon(draft: BeaconDraft): Shape | undefined {
  const centre = centreOf(draft);
  return centre && { type: 'point', centre };
}

/** Returns degrees with a precision of about 10 cm. */
const rounded = (degrees: number): number => Math.round(degrees * 1e6) / 1e6 + 0;
/** Returns the position on one world, rounded to about 10 cm. */
export const roundedPosition = ([longitude, latitude]: Position): Position => [
  rounded((((longitude % 360) + 540) % 360) - 180),
  rounded(latitude),
];

/** Returns the fields of a draft that hold the shape. */
export function fieldsOf(shape: Shape): Partial<GeofenceDraft> {
  if (shape.type === 'polygon') return { points: pointsText([...shape.points, shape.points[0]!]) };
  const [longitude, latitude] = shape.centre;
  const centre = { latitude: String(latitude), longitude: String(longitude) };
  return shape.type === 'circle' ? { ...centre, radius: String(shape.radiusM) } : centre;
}

/** Returns the closed outline of a shape; undefined: it has none. */
export function outlineOf(shape: Shape): readonly Position[] | undefined {
  if (shape.type === 'circle') return circleRing(shape.centre, shape.radiusM);
  if (shape.type === 'point' || shape.points.length < 3) return undefined;
  return [...shape.points, shape.points[0]!];
}

/**
 * Tests whether the map can edit the shape. One over the antimeridian, or nearer to a pole than the map reaches, is
 * edited in the form.
 */
export function isWithinMap(shape: Shape): boolean {
  const positions = shape.type === 'polygon' ? [...shape.points, ...shape.points.slice(0, 1)] : [shape.centre];
  return unwrapped(positions) === positions && positions.every(([, latitude]) => Math.abs(latitude) <= maxLatitude);
}

/** Returns the distance on the sphere, in metres. */
export function distanceM([x0, y0]: Position, [x1, y1]: Position): number {
  const [dx, dy] = [Math.sin(((x1 - x0) * radians) / 2), Math.sin(((y1 - y0) * radians) / 2)];
  const square = dy * dy + Math.cos(y0 * radians) * Math.cos(y1 * radians) * dx * dx;
  return 2 * earthRadiusM * Math.asin(Math.min(1, Math.sqrt(square)));
}

/** Returns a whole radius that a circle may have. */
export const allowedRadiusM = (radiusM: number): number =>
  Math.min(maxRadiusM, Math.max(minRadiusM, Math.round(radiusM)));

/** Returns 10, 20, 50, 100 and so on: the largest that is not above the metres. */
export function niceRadiusM(metres: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(metres, minRadiusM)));
  const factor = [5, 2, 1].find((each) => each * power <= metres) ?? 1;
  return allowedRadiusM(factor * power);
}

/** Returns where a circle's handle lies: to the east, or to the west of a centre before the antimeridian. */
export function handleOf([longitude, latitude]: Position, radiusM: number): Position {
  const degrees = radiusM / earthRadiusM / radians / Math.max(0.01, Math.cos(latitude * radians));
  const east = longitude + degrees;
  // terra-draw knows no longitude beyond 180.
  return [rounded(east > 180 ? longitude - degrees : east), latitude];
}

/** More points are checked only by the server. */
const maxChecked = 400;

/** Returns where edges of a polygon cross each other, besides the points that neighbours share. */
export function crossingsOf(corners: readonly Position[]): readonly Position[] {
  const points = unwrapped(corners);
  const count = points.length;
  if (count < 4 || count > maxChecked) return [];
  const crossings: Position[] = [];
  for (let one = 0; one < count; one++) {
    for (let other = one + 2; other < count; other++) {
      if (one === 0 && other === count - 1) continue;
      const at = crossing(points[one]!, points[one + 1]!, points[other]!, points[(other + 1) % count]!);
      if (at) crossings.push(at);
    }
  }
  return crossings;
}

function crossing(a: Position, b: Position, c: Position, d: Position): Position | undefined {
  const [rx, ry] = [b[0] - a[0], b[1] - a[1]];
  const [sx, sy] = [d[0] - c[0], d[1] - c[1]];
  const turn = rx * sy - ry * sx;
  if (turn === 0) return undefined;
  const along = ((c[0] - a[0]) * sy - (c[1] - a[1]) * sx) / turn;
  const across = ((c[0] - a[0]) * ry - (c[1] - a[1]) * rx) / turn;
  if (along < 0 || along > 1 || across < 0 || across > 1) return undefined;
  return [a[0] + along * rx, a[1] + along * ry];
}
