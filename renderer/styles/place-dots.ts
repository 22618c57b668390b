/** Draws the dots of cities. In views of countries, names of cities stand beside them. */
import type { SKRSContext2D } from '@napi-rs/canvas';
import type { Drawing } from '../sprites/drawn-images.js';
import type { Palette, PaletteColor } from './palette.js';

/** The image of a city's dot. */
export const cityDot = 'place-city';
/** The image of a capital's dot. */
export const capitalDot = 'place-capital';

/** Radii in CSS pixels, from the outside: the halo, and rings of the name's colour and the halo's in turn. */
const radiiPx: Readonly<Record<string, readonly number[]>> = {
  [cityDot]: [3.5, 2.5],
  [capitalDot]: [4.5, 3.6, 2.4, 1.4],
};

/** Returns the drawings of all dots, for the sprite. */
export function placeDotDrawings({ labels: { city } }: Palette): Drawing[] {
  return Object.entries(radiiPx).map(([name, radii]) => ({
    name,
    width: 2 * radii[0]!,
    height: 2 * radii[0]!,
    paint: (context) => {
      for (const [i, radius] of radii.entries()) paintDisc(context, radii[0]!, radius, i % 2 ? city.text : city.halo);
    },
  }));
}

function paintDisc(context: SKRSContext2D, middle: number, radius: number, color: PaletteColor): void {
  context.fillStyle = color;
  context.beginPath();
  context.arc(middle, middle, radius, 0, 2 * Math.PI);
  context.fill();
}
