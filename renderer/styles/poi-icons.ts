/** Draws the icons of points of interest. */
import { Path2D, type SKRSContext2D } from '@napi-rs/canvas';
import type { Drawing } from '../sprites/drawn-images.js';
import type { Palette } from './palette.js';
import { glyphUnits, poiGlyphs } from './poi-glyphs.js';
import { poiClasses, poiImage, poiStyles } from './pois.js';

/** Lengths in CSS pixels. */
const sizePx = 17;
const glyphPx = 11;
const rimPx = 1;

/** Returns the icons: a glyph on a disc of its kind's colour. */
export function poiDrawings({ labels: { pois } }: Palette): Drawing[] {
  const drawings = new Map<string, Drawing>();
  for (const name of poiClasses) {
    const { color, glyph } = poiStyles[name];
    const { text, halo } = pois[color];
    const paint = (context: SKRSContext2D) => paintIcon(context, text, halo, new Path2D(poiGlyphs[glyph]));
    drawings.set(poiImage(name), { name: poiImage(name), width: sizePx, height: sizePx, paint });
  }
  return [...drawings.values()];
}

function paintIcon(context: SKRSContext2D, disc: string, glyph: string, path: Path2D): void {
  const circle = (radius: number, color: string) => {
    context.fillStyle = color;
    context.beginPath();
    context.arc(sizePx / 2, sizePx / 2, radius, 0, 2 * Math.PI);
    context.fill();
  };
  circle(sizePx / 2, glyph);
  circle(sizePx / 2 - rimPx, disc);
  context.translate((sizePx - glyphPx) / 2, (sizePx - glyphPx) / 2);
  context.scale(glyphPx / glyphUnits, glyphPx / glyphUnits);
  context.fillStyle = glyph;
  context.fill(path);
}
