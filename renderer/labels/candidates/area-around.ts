/** Finds out how large the area around a point is, such as the park of a point of interest. Pure. */

import type { AreaAround } from '../../style/reserves-space.js';
import { doubledArea, polygonParts } from '../../tiles/coordinates.js';
import { point, polygon, type TileFeature, type VectorTile } from '../../tiles/vector-tile.js';

/** Returns a function that returns the size of the largest wanted area around a point, in square tile units. */
export function areasAround(tile: VectorTile, { sourceLayer, key, values }: AreaAround): (of: TileFeature) => number {
  const wanted = new Set<unknown>(values);
  const features = tile.layers.get(sourceLayer)?.features ?? [];
  const areas = features.filter(({ type, properties }) => type === polygon && wanted.has(properties[key]));
  return (feature) => {
    if (feature.type !== point) return 0;
    const [x, y] = feature.coordinates().xy;
    let largest = 0;
    for (const area of areas) {
      const { minX, minY, maxX, maxY } = area.box;
      if (x! < minX || y! < minY || x! > maxX || y! > maxY) continue;
      for (const [outer] of polygonParts(area.coordinates())) {
        const size = Math.abs(doubledArea(outer!, 0, outer!.length)) / 2;
        if (size > largest && isInside(outer!, x!, y!)) largest = size;
      }
    }
    return largest;
  };
}

/** Casts a ray to the right. */
function isInside(xy: readonly number[], x: number, y: number): boolean {
  let inside = false;
  for (let i = 0, last = xy.length - 2; i < xy.length; last = i, i += 2) {
    const [x0, y0, x1, y1] = [xy[last]!, xy[last + 1]!, xy[i]!, xy[i + 1]!];
    if (y0 > y !== y1 > y && x < x0 + ((y - y0) / (y1 - y0)) * (x1 - x0)) inside = !inside;
  }
  return inside;
}
