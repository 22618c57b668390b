/** Divides shapes, so that none of the tasks that copy them for MapLibre's worker is long. Pure. */
import type { Feature } from 'geojson';

/** So many positions are copied in about 5 ms. */
export const positionsInPart = 4_000;

/** Returns how many positions a feature has, which is what its copy costs. */
export const positionsOf = ({ geometry }: Feature): number =>
  geometry.type === 'Polygon' ? geometry.coordinates.reduce((sum, ring) => sum + ring.length, 0) : 1;

/** Returns parts in order, one at least. Features without an id of their own stay together: MapLibre adds none. */
export function partsOf(features: readonly Feature[]): Feature[][] {
  const ids = new Set(features.map(({ properties }) => properties?.id as unknown));
  if (ids.size < features.length || ids.has(undefined)) return [[...features]];
  const parts: Feature[][] = [[]];
  let positions = 0;
  for (const feature of features) {
    if (positions >= positionsInPart) {
      parts.push([]);
      positions = 0;
    }
    parts.at(-1)!.push(feature);
    positions += positionsOf(feature);
  }
  return parts;
}
