/** Draws the default marker: a pin whose tip is at its position. */
import { Path2D, type SKRSContext2D } from '@napi-rs/canvas';
import { paintStamp, StampStore } from '../draw/stamp.js';
import type { Surface } from '../draw/surface.js';
import type { Color, MarkerGroup } from '../types.js';

/** Size in CSS pixels. The tip is at the middle of the bottom edge. */
export const pinSizePx = { width: 30, height: 45 } as const;
/** Scale of markers with `size:small`. */
const smallShare = 0.6;

/** Returns the size of a pin as a share of the normal one. */
export const shareOf = ({ size }: MarkerGroup): number => (size === 'small' ? smallShare : 1);

/** A circle of radius 14 around (0, -30), narrowing to the tip at (0, 0). */
const outline = new Path2D('M0 0C-2.6 -9 -14 -18.5 -14 -30A14 14 0 1 1 14 -30C14 -18.5 2.6 -9 0 0Z');
const hole = new Path2D('M5 -30A5 5 0 1 1 -5 -30A5 5 0 1 1 5 -30Z');

const light = '#ffffff';
const dark = '#3a3f47';

/** Returns the colour of edge and hole, in contrast to the pin. Brightness uses the weights of sRGB, 0 to 255. */
function contrastTo([red, green, blue]: Color): string {
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 224 ? dark : light;
}

/** Space around a pin for its edge and the shadow of its tip, in CSS pixels. */
const besidePx = 3;
/** Memory of all pins that were drawn. */
const maxPinBytes = 2 ** 20;
const pins = new StampStore(maxPinBytes);

/** Paints a pin with its tip at (x, y), in device pixels. `unitPx` is its size relative to {@link pinSizePx}. */
export function paintPin(surface: Surface, x: number, y: number, color: Color, unitPx: number): void {
  const key = `${color.join()} ${unitPx}`;
  const tipX = Math.ceil(unitPx * (pinSizePx.width / 2 + besidePx));
  const tipY = Math.ceil(unitPx * (pinSizePx.height + besidePx));
  const stamp = pins.get(key, 2 * tipX, tipY + Math.ceil(unitPx * besidePx), (context) => {
    context.translate(tipX, tipY);
    context.scale(unitPx, unitPx);
    drawPin(context, color);
  });
  paintStamp(surface, stamp, Math.round(x) - tipX, Math.round(y) - tipY);
}

/** Returns a CSS colour. */
const cssColor = ([red, green, blue, alpha]: Color): string => `rgba(${red}, ${green}, ${blue}, ${alpha})`;

/** Draws a pin with its tip at the context's origin. */
function drawPin(context: SKRSContext2D, color: Color): void {
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
}
