/** Draws placed labels on the canvas: icons below text, halos below letters. */

import { type Canvas, createCanvas, type SKRSContext2D } from '@napi-rs/canvas';
import { setFont } from '../fonts.js';
import { sdfIcon } from '../sprites/outline.js';
import type { Stretched } from '../sprites/stretch.js';
import type { PixelBox } from '../types.js';
import type { PlacedIcon, PlacedLabel, Run } from './label.js';
import { baselineEm } from './text/measure.js';
import { isRightToLeft } from './text/script.js';
import type { FontStyle, TextStyle } from './text/text-style.js';

/**
 * Draws labels, the most important first in the list and on top where a style allows overlaps. `scale` is device pixels
 * per CSS pixel.
 */
export function drawLabels(context: SKRSContext2D, scale: number, labels: readonly PlacedLabel[]): void {
  context.save();
  context.textAlign = 'center';
  context.textBaseline = 'alphabetic';
  context.lineJoin = 'round';
  for (const { candidate, placement } of [...labels].reverse()) {
    if (placement.icon) drawIcon(context, scale, placement.icon);
    if (candidate.textStyle) drawText(context, scale, candidate.textStyle, placement.runs);
  }
  context.restore();
}

function drawText(context: SKRSContext2D, scale: number, textStyle: TextStyle, runs: readonly Run[]): void {
  useFont(context, textStyle);
  for (const ring of haloRings(textStyle)) {
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
  const beside = drawnBesidePx + drawnBesideEm * sizePx + haloWidthPx + blurFactor * haloBlurPx;
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

/** Factor to a halo's blur, from the specification's shaders. */
const blurFactor = 1.19;
/** Number of strokes that a softened halo is drawn with. */
const blurRings = 6;

/**
 * Returns the strokes of a halo, the widest first. The edge of a softened halo fades from `width - blur` to `width +
 * blur`: each ring covers those below it, and their opacities add up to a smooth step.
 */
export function haloRings(style: Pick<TextStyle, 'haloWidthPx' | 'haloBlurPx'>): { radiusPx: number; alpha: number }[] {
  const { haloWidthPx: width } = style;
  if (width <= 0) return [];
  const blur = blurFactor * style.haloBlurPx;
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

function drawIcon(context: SKRSContext2D, scale: number, icon: PlacedIcon): void {
  const { paint, x, y, angle, columns, rows } = icon;
  const width = Math.max(1, Math.round(columns.length * scale));
  const height = Math.max(1, Math.round(rows.length * scale));
  const canvas = canvasOf(icon, scale);
  context.globalAlpha = paint.opacity;
  if (angle === 0) {
    // Aligned to whole pixels, so that an icon drawn at its own size stays sharp.
    context.setTransform(1, 0, 0, 1, Math.round(x * scale - width / 2), Math.round(y * scale - height / 2));
    context.drawImage(canvas, 0, 0, width, height);
    return;
  }
  const cos = Math.cos(angle);
  const sin = Math.sin(angle);
  context.setTransform(cos, sin, -sin, cos, x * scale, y * scale);
  context.drawImage(canvas, -width / 2, -height / 2, width, height);
}

/** Returns the icon's pixels. A signed distance field is stretched as a whole. */
function canvasOf({ paint, columns, rows }: PlacedIcon, scale: number): Canvas {
  if (paint.image.isSdf) return sdfIcon(paint.image, paint, scale);
  const isWhole = columns.parts.length === 1 && rows.parts.length === 1;
  return isWhole ? paint.image.canvas() : stretchedCanvas(paint.image.canvas(), columns, rows, scale);
}

/** Draws the parts of a stretchable image next to each other. Edges lie on whole pixels, so no gaps show. */
function stretchedCanvas(image: Canvas, columns: Stretched, rows: Stretched, scale: number): Canvas {
  const edge = (length: number) => Math.round(length * scale);
  const canvas = createCanvas(Math.max(1, edge(columns.length)), Math.max(1, edge(rows.length)));
  const context = canvas.getContext('2d');
  for (const row of rows.parts) {
    for (const column of columns.parts) {
      const [left, top] = [edge(column.start), edge(row.start)];
      const [width, height] = [edge(column.end) - left, edge(row.end) - top];
      if (width === 0 || height === 0) continue;
      context.drawImage(
        image,
        column.from,
        row.from,
        column.to - column.from,
        row.to - row.from,
        left,
        top,
        width,
        height,
      );
    }
  }
  return canvas;
}
