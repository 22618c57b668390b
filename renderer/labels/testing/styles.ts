/** Looks and boxes of labels. For tests. */

import { createCanvas } from '@napi-rs/canvas';
import type { PixelBox } from '../../types.js';
import { evenPadding } from '../boxes.js';
import { drawLabels } from '../draw.js';
import type { Candidate, Rules, Setting } from '../label.js';
import { hanForms } from '../script.js';
import type { Look } from '../text-style.js';

export function lookFor(text: string, overrides: Partial<Look> = {}): Look {
  return {
    face: 'regular',
    han: hanForms(text, 'en'),
    sizePx: 16,
    letterSpacingPx: 0,
    color: '#000000',
    haloColor: '#ffffff',
    haloWidthPx: 0,
    opacity: 1,
    ...overrides,
  };
}

const rules: Rules = { padding: evenPadding(0), overlap: 'never', isObstacle: true, isOptional: false, minRepeatPx: 0 };

export function candidateOf(text: string, settings: readonly Setting[], overrides: Partial<Rules> = {}): Candidate {
  return { text, look: lookFor(text), rules: { ...rules, ...overrides }, settings: () => settings };
}

/** Whether the insides of two boxes meet. */
export function meet(a: PixelBox, b: PixelBox): boolean {
  return a.minX < b.maxX && b.minX < a.maxX && a.minY < b.maxY && b.minY < a.maxY;
}

/** A label's ink, drawn alone: for each device pixel of an image of this size whether something is there. */
export function inkOf(look: Look, setting: Setting, width: number, height: number, scale = 2): Uint8Array {
  const canvas = createCanvas(width * scale, height * scale);
  drawLabels(canvas.getContext('2d'), scale, [{ candidate: { ...candidateOf('', []), look }, setting }]);
  const pixels = canvas.data();
  return Uint8Array.from({ length: pixels.length / 4 }, (_, i) => (pixels[4 * i + 3]! > 40 ? 1 : 0));
}

/** Pixels of ink that are in none of the boxes, each of them enlarged by `slackPx` CSS pixels. */
export function inkOutside(
  ink: Uint8Array,
  boxes: readonly PixelBox[],
  width: number,
  scale: number,
  slackPx: number,
): number {
  let count = 0;
  for (let i = 0; i < ink.length; i++) {
    if (ink[i] === 0) continue;
    const x = ((i % (width * scale)) + 0.5) / scale;
    const y = (Math.floor(i / (width * scale)) + 0.5) / scale;
    const isCovered = boxes.some(
      ({ minX, minY, maxX, maxY }) =>
        x > minX - slackPx && x < maxX + slackPx && y > minY - slackPx && y < maxY + slackPx,
    );
    if (!isCovered) count++;
  }
  return count;
}
