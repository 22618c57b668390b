/** Plain answers that the basemap is held against. For tests. */

import type { Position } from 'geojson';

/** Whether a point is inside of rings of a plane: an odd number of edges lies to the east of it. */
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
 * The same on the globe, for rings as the data has them, without a cut: an odd number of edges lies between the point
 * and the north pole, which must be outside.
 */
export function isInsideOnGlobe([longitude, latitude]: Position, rings: readonly (readonly Position[])[]): boolean {
  let inside = false;
  for (const ring of rings) {
    for (let i = 1; i < ring.length; i++) {
      const start = eastOf(ring[i - 1]![0]! - longitude!);
      const end = eastOf(ring[i]![0]! - longitude!);
      if (start > 0 === end > 0 || Math.abs(end - start) > 180) continue;
      const crossing = ring[i - 1]![1]! + (start / (start - end)) * (ring[i]![1]! - ring[i - 1]![1]!);
      if (crossing > latitude!) inside = !inside;
    }
  }
  return inside;
}

/** Degrees from the edge that is nearest, roughly: those of longitude count as much as at the point's latitude. */
export function degreesToEdge([longitude, latitude]: Position, rings: readonly (readonly Position[])[]): number {
  const scale = Math.cos((latitude! * Math.PI) / 180);
  let nearest = Infinity;
  for (const ring of rings) {
    for (let i = 1; i < ring.length; i++) {
      const [x0, y0] = [eastOf(ring[i - 1]![0]! - longitude!) * scale, ring[i - 1]![1]! - latitude!];
      const [x1, y1] = [eastOf(ring[i]![0]! - longitude!) * scale, ring[i]![1]! - latitude!];
      const length = (x1 - x0) ** 2 + (y1 - y0) ** 2;
      const along = length === 0 ? 0 : Math.max(0, Math.min(1, -(x0 * (x1 - x0) + y0 * (y1 - y0)) / length));
      nearest = Math.min(nearest, Math.hypot(x0 + along * (x1 - x0), y0 + along * (y1 - y0)));
    }
  }
  return nearest;
}

/** Between -180 and 180. */
function eastOf(degrees: number): number {
  return degrees - 360 * Math.round(degrees / 360);
}
