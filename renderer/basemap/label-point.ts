/**
 * Where a country's name goes: the point of its largest part around which there is most room. Text is wider than tall,
 * so room east and west counts half. Pure.
 */

import type { Position } from 'geojson';
import { extremes, type PlanePoint, roomiestPoint } from '../tiles/roomiest-point.js';

/** How much wider than tall the room for a name is. */
const aspect = 2;

/** A point inside of a polygon of longitudes and latitudes; its first ring is the outer one. */
export function labelPoint(polygon: readonly (readonly Position[])[]): Position {
  const [south, north] = extremes(polygon[0]!.map(([, latitude]) => latitude!));
  const xScale = Math.cos((((south + north) / 2) * Math.PI) / 180) / aspect;
  const rings = polygon.map((ring) => ring.map(([x, y]): PlanePoint => [x! * xScale, y!]));
  const [x, y] = roomiestPoint(rings);
  return [x / xScale, y];
}
