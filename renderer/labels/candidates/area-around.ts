/** Finds out how large the area around a point is, such as the park or building of a point of interest. Pure. */
import type { AreaAround } from '../../style/placement-hints.js';
import { doubledArea, polygonParts } from '../../tiles/coordinates.js';
import { point, polygon, type TileFeature, type VectorTile } from '../../tiles/vector-tile.js';

/** Returns a function that returns the size of the largest wanted area around a point, in square tile units. */
export function areasAround(
  tile: VectorTile,
  { sourceLayer, only, isMiddle }: AreaAround,
): (of: TileFeature) => number {
  const values = new Set<unknown>(only?.values);
  const isWanted = (area: TileFeature) => area.type === polygon && (!only || values.has(area.properties[only.key]));
  const layer = tile.layers.get(sourceLayer);
  const isAround = isMiddle ? isMiddleOf : isInside;
  return (feature) => {
    if (feature.type !== point) return 0;
    const [x, y] = feature.coordinates().xy;
    let largest = 0;
    for (const area of layer?.featuresAround(x!, y!) ?? []) {
      if (!isWanted(area)) continue;
      for (const [outer] of polygonParts(area.coordinates())) {
        const size = Math.abs(doubledArea(outer!, 0, outer!.length)) / 2;
        if (size > largest && isAround(outer!, x!, y!)) largest = size;
      }
    }
    return largest;
  };
}

/** How far a point may be from the middle of its area: both are rounded to whole units of the tile. */
const middleUnits = 1.5;

/** Returns whether the point is the centroid of the ring. */
function isMiddleOf(xy: readonly number[], x: number, y: number): boolean {
  let area = 0;
  let sumX = 0;
  let sumY = 0;
  for (let i = 0, last = xy.length - 2; i < xy.length; last = i, i += 2) {
    const [x0, y0, x1, y1] = [xy[last]! - x, xy[last + 1]! - y, xy[i]! - x, xy[i + 1]! - y];
    const cross = x0 * y1 - x1 * y0;
    area += cross;
    sumX += (x0 + x1) * cross;
    sumY += (y0 + y1) * cross;
  }
  return Math.hypot(sumX, sumY) <= middleUnits * 3 * Math.abs(area);
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
