/** Simple oracles for the geometry of the basemap. For tests. */
import type { Position } from 'geojson';

/** Returns whether a point of the plane is inside rings, by ray casting to the east. */
export function isInside([x, y]: Position, rings: readonly (readonly Position[])[]): boolean {
  let inside = false;
  for (const ring of rings) {
    for (let i = 1; i < ring.length; i++) {
      const [x0, y0] = ring[i - 1]!;
      const [x1, y1] = ring[i]!;
      if (y0! > y! !== y1! > y! && x! < x0! + ((y! - y0!) / (y1! - y0!)) * (x1! - x0!)) inside = !inside;
    }
  }
  return inside;
}

/**
 * Returns whether a position is inside rings on the globe, by ray casting to the north pole, which must be outside. The
 * rings are not cut at the antimeridian.
 */
export function isInsideOnGlobe([longitude, latitude]: Position, rings: readonly (readonly Position[])[]): boolean {
  let inside = false;
  for (const ring of rings) {
    for (let i = 1; i < ring.length; i++) {
      // Most edges lie to the south, where the ray does not go.
      if (ring[i - 1]![1]! <= latitude! && ring[i]![1]! <= latitude!) continue;
      const start = eastOf(ring[i - 1]![0]! - longitude!);
      const end = eastOf(ring[i]![0]! - longitude!);
      if (start > 0 === end > 0 || Math.abs(end - start) > 180) continue;
      const crossing = ring[i - 1]![1]! + (start / (start - end)) * (ring[i]![1]! - ring[i - 1]![1]!);
      if (crossing > latitude!) inside = !inside;
    }
  }
  return inside;
}

/**
 * Returns the approximate distance to the nearest edge in degrees of latitude, or Infinity beyond `limit`. Degrees of
 * longitude have their length at the position's latitude.
 */
export function degreesToEdge(
  [longitude, latitude]: Position,
  rings: readonly (readonly Position[])[],
  limit: number,
): number {
  const scale = Math.cos((latitude! * Math.PI) / 180);
  let nearest = Infinity;
  for (const ring of rings) {
    for (let i = 1; i < ring.length; i++) {
      const y0 = ring[i - 1]![1]! - latitude!;
      const y1 = ring[i]![1]! - latitude!;
      if ((y0 > limit && y1 > limit) || (y0 < -limit && y1 < -limit)) continue;
      const x0 = eastOf(ring[i - 1]![0]! - longitude!) * scale;
      const x1 = eastOf(ring[i]![0]! - longitude!) * scale;
      const length = (x1 - x0) ** 2 + (y1 - y0) ** 2;
      const along = length === 0 ? 0 : Math.max(0, Math.min(1, -(x0 * (x1 - x0) + y0 * (y1 - y0)) / length));
      nearest = Math.min(nearest, Math.hypot(x0 + along * (x1 - x0), y0 + along * (y1 - y0)));
    }
  }
  return nearest <= limit ? nearest : Infinity;
}

/** Returns the angle between -180 and 180. */
function eastOf(degrees: number): number {
  return degrees - 360 * Math.round(degrees / 360);
}
