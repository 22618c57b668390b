/** Draws placed labels on the canvas: icons below text, halos below letters. */
import type { SKRSContext2D } from '@napi-rs/canvas';
import type { Surface } from '../draw/surface.js';
import { setFont } from '../fonts.js';
import type { PixelBox } from '../types.js';
import type { PlacedLabel, Run } from './label.js';
import { fieldText, paintText } from './letters/paint-text.js';
import { drawIcon, isPaintable, paintIcon } from './paint-icon.js';
import { baselineEm } from './text/measure.js';
import { isRightToLeft } from './text/script.js';
import { type FontStyle, haloFadePx, type TextStyle } from './text/text-style.js';

/**
 * Draws labels, the most important first in the list. All icons lie below all texts, and more important labels on top
 * where a style allows overlaps. `scale` is device pixels per CSS pixel. Only what lies in the boxes is kept, which
 * have no pixels in common.
 */
export function drawLabels(
  surface: Surface,
  scale: number,
  labels: readonly PlacedLabel[],
  boxes: readonly PixelBox[] = [surface.area],
): void {
  const upwards = [...labels].reverse();
  const icons: Drawing[] = [];
  for (const label of upwards) {
    const { icon } = label.placement;
    if (!icon) continue;
    if (!isPaintable(icon, scale)) icons.push({ label, draw: (context) => drawIcon(context, scale, icon) });
    else for (const box of boxes) paintIcon(surface, scale, icon, box);
  }
  drawAll(surface, scale, icons, boxes);
  const shaped: Drawing[] = [];
  for (const label of upwards) {
    const { textStyle } = label.candidate;
    const { runs } = label.placement;
    if (!textStyle || runs.length === 0) continue;
    const text = fieldText(textStyle, runs, scale);
    if (!text) shaped.push({ label, draw: (context) => drawText(context, scale, textStyle, runs) });
    else for (const part of partsOf(label, scale, boxes)) paintText(surface, scale, text, part);
  }
  drawAll(surface, scale, shaped, boxes);
}

/** A part of a label that the drawing engine draws. */
interface Drawing {
  readonly label: PlacedLabel;
  draw(context: SKRSContext2D): void;
}

/** Draws in one turn of the drawing engine, because each turn copies pixels. */
function drawAll(surface: Surface, scale: number, drawings: readonly Drawing[], boxes: readonly PixelBox[]): void {
  if (drawings.length === 0) return;
  const parts = drawings.flatMap(({ label }) => partsOf(label, scale, boxes));
  surface.drawIn(parts, (context) => {
    for (const { draw } of drawings) draw(context);
  });
}

/** Returns the parts of boxes in which a label is drawn, in whole device pixels. */
function partsOf(label: PlacedLabel, scale: number, boxes: readonly PixelBox[]): PixelBox[] {
  const { minX, minY, maxX, maxY } = drawnBox(label);
  return boxes
    .map((box) => ({
      minX: Math.max(box.minX, Math.floor(minX * scale)),
      minY: Math.max(box.minY, Math.floor(minY * scale)),
      maxX: Math.min(box.maxX, Math.ceil(maxX * scale)),
      maxY: Math.min(box.maxY, Math.ceil(maxY * scale)),
    }))
    .filter((part) => part.minX < part.maxX && part.minY < part.maxY);
}

/** Draws a text with the drawing engine: one whose letters change with their neighbours, or that fields do not suit. */
function drawText(context: SKRSContext2D, scale: number, textStyle: TextStyle, runs: readonly Run[]): void {
  context.textAlign = 'center';
  context.textBaseline = 'alphabetic';
  context.lineJoin = 'round';
  useFont(context, textStyle);
  for (const ring of haloRings(textStyle, scale)) {
    context.globalAlpha = textStyle.opacity * ring.alpha;
    context.strokeStyle = textStyle.haloColor;
    context.lineWidth = 2 * ring.radiusPx;
    for (const run of runs) drawRun(context, scale, run, textStyle, (text, x, y) => context.strokeText(text, x, y));
  }
  context.globalAlpha = textStyle.opacity;
  for (const run of runs) {
    context.fillStyle = run.section?.color ?? textStyle.color;
    drawRun(context, scale, run, textStyle, (text, x, y) => context.fillText(text, x, y));
  }
}

/** How far letters and icons may reach beyond their collision boxes, in CSS pixels and in ems. */
const drawnBesidePx = 4;
const drawnBesideEm = 0.5;

/** Returns a box that contains all that is drawn of a label, in CSS pixels of the image. */
export function drawnBox({ candidate, placement: { boxes, icon } }: PlacedLabel): PixelBox {
  const { haloWidthPx, haloBlurPx, sizePx } = candidate.textStyle ?? noText;
  const beside = drawnBesidePx + drawnBesideEm * sizePx + haloWidthPx + haloFadePx(haloBlurPx, 1);
  const all = [...boxes, ...(icon?.boxes ?? [])];
  return {
    minX: Math.min(...all.map(({ minX }) => minX)) - beside,
    minY: Math.min(...all.map(({ minY }) => minY)) - beside,
    maxX: Math.max(...all.map(({ maxX }) => maxX)) + beside,
    maxY: Math.max(...all.map(({ maxY }) => maxY)) + beside,
  };
}

const noText = { haloWidthPx: 0, haloBlurPx: 0, sizePx: 0 };

/** Returns a text that is equal for labels of one style that are drawn alike, in the same place. */
export function drawnKey({ candidate: { textStyle }, placement: { runs, icon } }: PlacedLabel): string {
  return JSON.stringify([runs, textStyle, icon && { ...icon, paint: { ...icon.paint, image: icon.paint.image.name } }]);
}

/** Number of strokes that a softened halo is drawn with. */
const blurRings = 6;

/**
 * Returns the strokes of a halo, the widest first, in CSS pixels. The edge of a softened halo fades from `width - blur`
 * to `width + blur`. Each ring covers those below it, and their opacities add up to a smooth step.
 */
export function haloRings(
  style: Pick<TextStyle, 'haloWidthPx' | 'haloBlurPx'>,
  scale: number,
): { radiusPx: number; alpha: number }[] {
  const { haloWidthPx: width } = style;
  if (width <= 0) return [];
  const blur = haloFadePx(style.haloBlurPx, scale);
  if (blur === 0) return [{ radiusPx: width, alpha: 1 }];
  let covered = 0;
  return Array.from({ length: blurRings }, (_, i) => {
    const share = (i + 0.5) / blurRings;
    const target = share * share * (3 - 2 * share);
    const alpha = (target - covered) / (1 - covered);
    covered = target;
    return { radiusPx: width + blur * (1 - 2 * share), alpha };
  }).filter(({ radiusPx }) => radiusPx > 0);
}

/** Sets the font of a text, once for all its runs: parsing it takes a quarter of the time that drawing a run does. */
function useFont(context: SKRSContext2D, font: FontStyle): void {
  setFont(context, font.sizePx, font);
  context.letterSpacing = `${font.letterSpacingPx}px`;
}

/** Draws a run. The font of its text is set, a section sets its own. */
function drawRun(
  context: SKRSContext2D,
  scale: number,
  { text, x, y, angle, section }: Run,
  textStyle: TextStyle,
  draw: (text: string, x: number, y: number) => void,
): void {
  const cos = scale * Math.cos(angle);
  const sin = scale * Math.sin(angle);
  context.setTransform(cos, sin, -sin, cos, x * scale, y * scale);
  if (section) useFont(context, section.font);
  const font = section?.font ?? textStyle;
  context.direction = isRightToLeft(text) ? 'rtl' : 'ltr';
  // The drawing engine adds letter spacing after the last letter too, and includes it when it centres the text.
  draw(text, font.letterSpacingPx / 2, baselineEm(text) * font.sizePx);
}
