/**
 * Finds the position of a country's name: the pole of inaccessibility of its largest part. Text is wider than tall, so
 * horizontal distances count half. Pure.
 */
import type { Position } from 'geojson';
import { extremes, type PlanePoint, poleOfInaccessibility } from '../tiles/pole-of-inaccessibility.js';

/** Ratio of width to height of a name. */
const aspect = 2;

/** Returns a point inside a polygon of longitudes and latitudes. Its first ring is the outer one. */
export function labelPoint(polygon: readonly (readonly Position[])[]): Position {
  const [south, north] = extremes(polygon[0]!.map(([, latitude]) => latitude!));
  const xScale = Math.cos((((south + north) / 2) * Math.PI) / 180) / aspect;
  const rings = polygon.map((ring) => ring.map(([x, y]): PlanePoint => [x! * xScale, y!]));
  const [x, y] = poleOfInaccessibility(rings);
  return [x / xScale, y];
}
