/** Draws geofences: tinted areas with an outline. */
import { Path2D, type SKRSContext2D } from '@napi-rs/canvas';
import type { FenceOverlay, PixelBox, Position, Viewport } from '../types.js';
import type { FitItem } from '../view/fit.js';
import { boxAround, ringPath } from './lines.js';

const strokePx = 2;
const fill = 'rgba(0, 87, 231, 0.16)';
const stroke = 'rgba(0, 87, 231, 0.9)';
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

export const fenceItem = (fence: FenceOverlay): FitItem => ({
  positions: fenceRing(fence),
  margins: { left: strokePx, right: strokePx, top: strokePx, bottom: strokePx },
});

/** A geofence in CSS pixels of the image. */
export interface FenceShape {
  readonly area: Path2D;
  /** Where it is drawn. */
  readonly box: PixelBox;
}

export function fenceShape(view: Viewport, fence: FenceOverlay): FenceShape {
  const area = new Path2D(ringPath(view, fenceRing(fence), strokePx));
  return { area, box: boxAround(area, strokePx) };
}

/** Draws the areas. The context's unit is the CSS pixel. */
export function drawFences(context: SKRSContext2D, shapes: readonly FenceShape[]): void {
  context.save();
  context.fillStyle = fill;
  context.strokeStyle = stroke;
  context.lineWidth = strokePx;
  context.lineJoin = 'round';
  for (const { area } of shapes) {
    context.fill(area);
    context.stroke(area);
  }
  context.restore();
}
