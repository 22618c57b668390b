/** The boundary of road data: beyond it there are roads that the data does not have. Pure. */

import { edgeInReach } from '../../pipeline/geometry/boundary.js';
import { contains } from '../../pipeline/geometry/containment.js';
import { type Ring, ringOf } from '../../pipeline/geometry/edges.js';
import { unwrapRing } from '../../pipeline/geometry/ring.js';
import type { Position } from '../../schemas/json/common.js';

/** Tests whether a position is inside the boundary and at least so many metres away from it. */
export type RoadBoundary = (position: Position, marginM: number) => boolean;

/** Creates a boundary from closed rings. What an even number of rings contains is outside, so rings may be holes. */
export function roadBoundary(rings: readonly (readonly Position[])[]): RoadBoundary {
  const indexed = rings.map((ring) => ringOf(unwrapRing(ring)));
  return ([longitude, latitude], marginM) => {
    let containing = 0;
    for (const ring of indexed) {
      const x = inFrameOf(ring, longitude);
      if (edgeInReach(ring, x, latitude, marginM) < marginM) return false;
      if (contains(ring, x, latitude)) containing++;
    }
    return containing % 2 === 1;
  };
}

/** Returns the longitude in the frame of a ring, which may continue beyond 180 or -180. */
function inFrameOf({ minX, maxX }: Ring, longitude: number): number {
  if (longitude < minX && longitude + 360 <= maxX) return longitude + 360;
  return longitude > maxX && longitude - 360 >= minX ? longitude - 360 : longitude;
}
