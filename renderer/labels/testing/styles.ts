/** Creates text styles and candidates, and measures the ink of labels. For tests. */
import { Surface } from '../../draw/surface.js';
import { familiesFor } from '../../fonts.js';
import { bytesOf } from '../../pixels.js';
import type { PixelBox } from '../../types.js';
import { evenPadding } from '../collision/boxes.js';
import { drawLabels } from '../draw.js';
import type { Candidate, Placement, TextCollisionRules } from '../label.js';
import { hanForms } from '../text/script.js';
import type { TextStyle } from '../text/text-style.js';

/** Returns a plain text style with the fonts that the text needs. */
export function textStyleFor(text: string, overrides: Partial<TextStyle> = {}): TextStyle {
  return {
    face: 'regular',
    han: hanForms(text, 'en'),
    families: familiesFor(text),
    sizePx: 16,
    letterSpacingPx: 0,
    color: '#000000',
    haloColor: '#ffffff',
    haloWidthPx: 0,
    haloBlurPx: 0,
    sections: null,
    opacity: 1,
    ...overrides,
  };
}

const textRules: TextCollisionRules = {
  padding: evenPadding(0),
  overlap: 'never',
  isObstacle: true,
  isOptional: false,
  minRepeatPx: 0,
};

/** Returns a candidate that can be placed in the given ways. */
export function candidateOf(
  text: string,
  placements: readonly Placement[],
  overrides: Partial<TextCollisionRules> = {},
): Candidate {
  return {
    text,
    textStyle: textStyleFor(text),
    textRules: { ...textRules, ...overrides },
    placements: () => placements,
  };
}

/** Returns whether the interiors of two boxes intersect. */
export function intersect(a: PixelBox, b: PixelBox): boolean {
  return a.minX < b.maxX && b.minX < a.maxX && a.minY < b.maxY && b.minY < a.maxY;
}

/** Draws a label alone, on white. Returns its pixels. */
export function pixelsOfLabel(
  textStyle: TextStyle,
  placement: Placement,
  width: number,
  height: number,
  scale = 1,
): Uint8ClampedArray {
  const surface = new Surface(width * scale, height * scale);
  surface.replacePixels().fill(0xffffffff);
  drawLabels(surface, scale, [{ candidate: { ...candidateOf('', []), textStyle }, placement }]);
  return bytesOf(surface.pixels);
}

/** Draws a label in black alone. Returns for each device pixel of an image of this size whether it has ink. */
export function inkOf(
  textStyle: TextStyle,
  placement: Placement,
  width: number,
  height: number,
  scale = 2,
): Uint8Array {
  const pixels = pixelsOfLabel(textStyle, placement, width, height, scale);
  return Uint8Array.from({ length: pixels.length / 4 }, (_, i) => (pixels[4 * i]! < 215 ? 1 : 0));
}

/** Counts the ink pixels outside all boxes, each enlarged by `slackPx` CSS pixels. */
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
