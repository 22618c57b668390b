/** The default marker: a pin whose tip is at its place. */
import { Path2D, type SKRSContext2D } from '@napi-rs/canvas';
import type { Color, MarkerGroup } from '../types.js';
import { cssColor } from './color.js';

/** CSS pixels; the tip is at the middle of the bottom. */
export const pinSizePx = { width: 30, height: 45 } as const;
/** Of markers with `size:small`. */
export const smallShare = 0.6;

export const shareOf = ({ size }: MarkerGroup): number => (size === 'small' ? smallShare : 1);

/** A circle of radius 14 about (0, -30), drawn together to the tip at (0, 0). */
const outline = new Path2D('M0 0C-2.6 -9 -14 -18.5 -14 -30A14 14 0 1 1 14 -30C14 -18.5 2.6 -9 0 0Z');
const hole = new Path2D('M5 -30A5 5 0 1 1 -5 -30A5 5 0 1 1 5 -30Z');

const light = '#ffffff';
const dark = '#3a3f47';

/** Of the edge and the hole: what stands out from the pin. Light is how sRGB weighs its channels, 0 to 255. */
function contrastTo([red, green, blue]: Color): string {
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 224 ? dark : light;
}

/** Draws with the tip at (x, y), in units of CSS pixels. */
export function drawPin(context: SKRSContext2D, x: number, y: number, color: Color, share: number): void {
  context.save();
  context.translate(x, y);
  context.scale(share, share);
  context.fillStyle = 'rgba(0, 0, 0, 0.18)';
  context.beginPath();
  context.ellipse(0, 0, 6, 2.2, 0, 0, 2 * Math.PI);
  context.fill();
  context.fillStyle = cssColor(color);
  context.fill(outline);
  context.strokeStyle = contrastTo(color);
  context.globalAlpha = 0.9;
  context.lineWidth = 1.25;
  context.stroke(outline);
  context.globalAlpha = 1;
  context.fillStyle = contrastTo(color);
  context.fill(hole);
  context.restore();
}
