/** Paints geofences: tinted areas with an outline. */
import { fillPlain, strokePlain } from '../draw/plain.js';
import type { Surface } from '../draw/surface.js';
import type { LineList } from '../draw/vertices.js';
import { inkOf } from '../raster/ink.js';
import type { FenceOverlay, PixelBox, Position, Viewport } from '../types.js';
import type { FitItem } from '../view/fit.js';
import { boxAround, ringLines } from './lines.js';

const strokePx = 2;
const fill = inkOf(0, 87, 231, 0.16);
const stroke = inkOf(0, 87, 231, 0.9);
const circlePoints = 96;
/** WGS84 (NIMA TR8350.2): semi-major axis and first eccentricity squared. */
const semiMajorM = 6_378_137;
const eccentricitySquared = 0.00669437999014;

/**
 * Returns the boundary as a chain of positions. A circle becomes a polygon of {@link circlePoints} points, from the
 * ellipsoid's two radii of curvature at its centre.
 */
export function fenceRing(fence: FenceOverlay): readonly Position[] {
  if (fence.type === 'polygon') return fence.ring;
  const [longitude, latitude] = fence.center;
  const sine = Math.sin((latitude * Math.PI) / 180);
  const flattening = 1 - eccentricitySquared * sine * sine;
  const eastRadiusM = (semiMajorM / Math.sqrt(flattening)) * Math.cos((latitude * Math.PI) / 180);
  const northRadiusM = (semiMajorM * (1 - eccentricitySquared)) / flattening ** 1.5;
  return Array.from({ length: circlePoints }, (_, index): Position => {
    const angle = (2 * Math.PI * index) / circlePoints;
    const eastDeg = ((fence.radiusM * Math.sin(angle)) / eastRadiusM) * (180 / Math.PI);
    const northDeg = ((fence.radiusM * Math.cos(angle)) / northRadiusM) * (180 / Math.PI);
    return [longitude + eastDeg, latitude + northDeg];
  });
}

/** Returns the positions that a view must show for a geofence to be in it. */
export const fenceItem = (fence: FenceOverlay): FitItem => ({
  positions: fenceRing(fence),
  margins: { left: strokePx, right: strokePx, top: strokePx, bottom: strokePx },
});

/** A geofence in CSS pixels of the image. */
interface FenceShape {
  readonly boundary: LineList;
  /** Where it is painted. */
  readonly box: PixelBox;
}

/** Returns the shape of a geofence in a view. */
export function fenceShape(view: Viewport, fence: FenceOverlay): FenceShape {
  const boundary = ringLines(view, fenceRing(fence), strokePx);
  return { boundary, box: boxAround(boundary, strokePx) };
}

/** Paints the areas, each with its outline. */
export function paintFences(surface: Surface, scale: number, shapes: readonly FenceShape[]): void {
  const target = surface.target(scale);
  const style = { widthPx: scale * strokePx, cap: 'round', join: 'round', miterLimit: 1 } as const;
  for (const { boundary, box } of shapes) {
    fillPlain(target, [{ box, vertices: () => boundary }], fill);
    strokePlain(target, [boundary], style, stroke);
  }
}
