/** Finds out how large the area around a point is, such as the park of a point of interest. Pure. */

import type { AreaAround } from '../../style/reserves-space.js';
import { doubledArea } from '../../tiles/coordinates.js';
import { point, polygon, type TileFeature, type VectorTile } from '../../tiles/vector-tile.js';

/** An outer ring, as alternating x and y coordinates. */
interface Ring {
  readonly xy: readonly number[];
  /** Square tile units. */
  readonly size: number;
}

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
      for (const { xy, size } of outerRings(area)) if (size > largest && isInside(xy, x!, y!)) largest = size;
    }
    return largest;
  };
}

/** Rings that wind like the first one are outer ones. */
function outerRings(area: TileFeature): Ring[] {
  const { xy, ends } = area.coordinates();
  const rings = ends.map((end, i) => xy.slice(ends[i - 1] ?? 0, end));
  const doubled = rings.map((ring) => doubledArea(ring, 0, ring.length));
  return rings
    .map((ring, i) => ({ xy: ring, size: (doubled[i]! * Math.sign(doubled[0]!)) / 2 }))
    .filter(({ size }) => size > 0);
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
