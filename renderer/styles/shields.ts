/** The images of road shields: a plate for each look, stretched to fit its reference. */
import type { SKRSContext2D } from '@napi-rs/canvas';
import type { Drawing } from '../sprites/drawn-images.js';
import type { Palette, ShieldColors } from './palette.js';
import type { ShieldClass } from './schema.js';

/** Returns the name of the image in the sprite. */
export const shieldImage = (look: ShieldClass): string => `shield-${look}`;

/** Lengths in CSS pixels. */
const size = { width: 24, height: 18 };
/** Space for rounded corners, and around the text. */
const frame = { fixed: 8, across: 6, down: 3 };
const borderPx = 1;
const radiiPx: Readonly<Record<ShieldClass, number>> = { motorway: 4, trunk: 4, national: 4, regional: 8 };

/** Returns the drawings of all shields, for the sprite. */
export function shieldDrawings({ shields }: Palette): Drawing[] {
  return (Object.keys(radiiPx) as ShieldClass[]).map((look) => ({
    name: shieldImage(look),
    ...size,
    frame,
    paint: (context) => paintPlate(context, shields[look], radiiPx[look]),
  }));
}

function paintPlate(context: SKRSContext2D, { fill, border }: ShieldColors, radiusPx: number): void {
  const plate = (insetPx: number, color: string) => {
    context.fillStyle = color;
    context.beginPath();
    context.roundRect(insetPx, insetPx, size.width - 2 * insetPx, size.height - 2 * insetPx, radiusPx - insetPx);
    context.fill();
  };
  plate(0, border);
  plate(borderPx, fill);
}
