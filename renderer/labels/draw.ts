/** Labels on the canvas: icons below text, halos below letters. */

import type { SKRSContext2D } from '@napi-rs/canvas';
import { fontOf } from '../fonts.js';
import { drawIcon } from './draw-icon.js';
import type { PlacedLabel, Run } from './label.js';
import { isRightToLeft } from './script.js';
import type { Look } from './text-style.js';

/**
 * From the middle of a row down to the line that letters stand on: half the height of a capital, and less where letters
 * reach far below.
 */
const baselineEm = { ltr: 0.36, rtl: 0.24 } as const;

/** From the lowest to the topmost. `scale` is device pixels per CSS pixel. */
export function drawLabels(context: SKRSContext2D, scale: number, labels: readonly PlacedLabel[]): void {
  context.save();
  context.textAlign = 'center';
  context.textBaseline = 'alphabetic';
  context.lineJoin = 'round';
  for (const { candidate, setting } of labels) {
    if (setting.icon) drawIcon(context, scale, setting.icon);
    if (candidate.look) drawText(context, scale, candidate.look, setting.runs);
  }
  context.restore();
}

function drawText(context: SKRSContext2D, scale: number, look: Look, runs: readonly Run[]): void {
  context.font = fontOf(look.sizePx, look.face, look.han);
  context.letterSpacing = `${look.letterSpacingPx}px`;
  context.globalAlpha = look.opacity;
  if (look.haloWidthPx > 0) {
    context.strokeStyle = look.haloColor;
    context.lineWidth = 2 * look.haloWidthPx;
    for (const run of runs) drawRun(context, scale, look, run, (text, x, y) => context.strokeText(text, x, y));
  }
  context.fillStyle = look.color;
  for (const run of runs) drawRun(context, scale, look, run, (text, x, y) => context.fillText(text, x, y));
}

function drawRun(
  context: SKRSContext2D,
  scale: number,
  { sizePx, letterSpacingPx }: Look,
  { text, x, y, angle }: Run,
  draw: (text: string, x: number, y: number) => void,
): void {
  const cos = scale * Math.cos(angle);
  const sin = scale * Math.sin(angle);
  context.setTransform(cos, sin, -sin, cos, x * scale, y * scale);
  const direction = isRightToLeft(text) ? 'rtl' : 'ltr';
  context.direction = direction;
  // The engine puts letter spacing after the last letter too, and centres that as well.
  draw(text, letterSpacingPx / 2, baselineEm[direction] * sizePx);
}
