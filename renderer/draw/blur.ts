/** Blurred edges of lines and circles, as MapLibre GL JS draws them. Pure. */

import { Color } from '@maplibre/maplibre-gl-style-spec';

/**
 * Returns the width of a sharp line that has as much ink as a blurred one. The edge of a blurred line fades over `blur`
 * inside its width; a line narrower than twice that is transparent in the middle too.
 */
export function sharpWidth(width: number, blur: number): number {
  const half = width / 2;
  return half >= blur ? width - blur : half ** 2 / blur;
}

/** Returns the standard deviation of the blur that gives a sharp edge this ramp. */
export const deviationOf = (blur: number): number => blur / Math.sqrt(12);

export interface BlurredCircle {
  readonly radius: number;
  readonly strokeWidth: number;
  /** As a share of the radius with the stroke. */
  readonly blur: number;
  readonly fill: Color;
  readonly fillOpacity: number;
  readonly stroke: Color;
  readonly strokeOpacity: number;
}

/** Number of steps from the centre to the edge. */
const steps = 16;

/** Returns colours from the centre to the edge of the stroke, at equal distances. */
export function blurredColors(circle: BlurredCircle): Color[] {
  const { radius, strokeWidth, blur } = circle;
  const fill = faded(circle.fill, circle.fillOpacity);
  const stroke = faded(circle.stroke, circle.strokeOpacity);
  const edge = radius / (radius + strokeWidth);
  return Array.from({ length: steps + 1 }, (_, i) => {
    const at = i / steps;
    const share = strokeWidth === 0 ? 0 : smooth((at - edge + blur) / blur);
    return faded(mixed(fill, stroke, share), smooth((1 - at) / blur));
  });
}

function smooth(share: number): number {
  const within = Math.max(0, Math.min(1, share));
  return within ** 2 * (3 - 2 * within);
}

const faded = ({ r, g, b, a }: Color, opacity: number): Color =>
  new Color(r * opacity, g * opacity, b * opacity, a * opacity);

function mixed(from: Color, to: Color, share: number): Color {
  const between = (a: number, b: number) => a + (b - a) * share;
  return new Color(between(from.r, to.r), between(from.g, to.g), between(from.b, to.b), between(from.a, to.a));
}
