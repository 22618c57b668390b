/** Blurred edges of lines and circles, as MapLibre GL JS draws them. Pure. */
import { Color } from '@maplibre/maplibre-gl-style-spec';

/** A sharp line and the blur that together look like a line with blurred edges. Device pixels. */
interface SharpLine {
  readonly width: number;
  /** Standard deviation. */
  readonly deviation: number;
}

/**
 * Returns the sharp line with as much ink, spread as widely. The edge of a blurred line fades over `blur` and one
 * pixel, from half a pixel outside. A line narrower than twice that is transparent in the middle too. Device pixels.
 */
export function sharpLine(width: number, blur: number): SharpLine {
  const half = width / 2 + 0.5;
  const ramp = blur + 1;
  const isWide = half >= ramp;
  const sharp = isWide ? 2 * half - ramp : half ** 2 / ramp;
  // Variances: of a ramp, or of a triangle without that of its sharp core; and of the engine's own smooth edge.
  const spread = isWide ? ramp ** 2 / 12 : half ** 2 / 6 - sharp ** 2 / 12;
  return { width: sharp, deviation: Math.sqrt(Math.max(0, spread - 1 / 12)) };
}

interface BlurredCircle {
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
