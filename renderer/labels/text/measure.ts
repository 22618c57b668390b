/** Measures text widths. They are cached, because measuring a text takes as long as drawing it. */
import { createCanvas } from '@napi-rs/canvas';
import { type FontFace, type FontSelection, type HanForms, setFont } from '../../fonts.js';
import { rememberByText } from './remember.js';
import { isRightToLeft, lettersOf } from './script.js';
import type { FontStyle } from './text-style.js';

/** Texts are measured at this size. Widths scale linearly, because glyph outlines are not hinted. */
export const measuredSizePx = 32;

const maxWidths = 20_000;

const ruler = createCanvas(1, 1).getContext('2d');
/** Widths by font, then by text. All are forgotten together, which is faster than to remember which are in use. */
const widths = new Map<string, Map<string, number>>();
let widthCount = 0;
const splitLetters = rememberByText(lettersOf);

/**
 * Returns the distance from the middle of a row down to the baseline, in ems. It is half the height of a capital
 * letter, less for scripts with deep descenders.
 */
export const baselineEm = (text: string): number => (isRightToLeft(text) ? 0.24 : 0.36);

/** Returns the width in CSS pixels, with letter spacing between letters but not after the last one. */
export function textWidth(text: string, font: FontStyle): number {
  const spacing = font.letterSpacingPx === 0 ? 0 : font.letterSpacingPx * (splitLetters(text).length - 1);
  return (unspacedWidth(text, font) * font.sizePx) / measuredSizePx + spacing;
}

/** Returns the letters of a text, each with its width including letter spacing. */
export function letterWidths(text: string, font: FontStyle): { readonly letter: string; readonly width: number }[] {
  return splitLetters(text).map((letter) => ({
    letter,
    width: (unspacedWidth(letter, font) * font.sizePx) / measuredSizePx + font.letterSpacingPx,
  }));
}

/** Returns the width in ems, without letter spacing. */
export const widthEm = (text: string, font: FontSelection): number => unspacedWidth(text, font) / measuredSizePx;

function unspacedWidth(text: string, font: FontSelection): number {
  const ofFont = widthsOf(font);
  let width = ofFont.get(text);
  if (width === undefined) {
    setFont(ruler, measuredSizePx, font);
    width = ruler.measureText(text).width;
    if (++widthCount > maxWidths) {
      widths.clear();
      widthCount = 0;
    }
    ofFont.set(text, width);
  }
  return width;
}

/** Returns a text that is equal for fonts of equal letters. */
export const fontKeyOf = ({ face, han, families }: FontSelection): string =>
  families.length === 0 ? fontKeys[face][han] : [face, han, ...families.map(({ name }) => name)].join();

function widthsOf(font: FontSelection): Map<string, number> {
  const key = fontKeyOf(font);
  let ofFont = widths.get(key);
  if (!ofFont) {
    ofFont = new Map();
    widths.set(key, ofFont);
  }
  return ofFont;
}

const keysOf = (face: FontFace): Readonly<Record<HanForms, string>> => ({
  ja: `${face},ja`,
  ko: `${face},ko`,
  zh: `${face},zh`,
});
/** Keys of fonts without families of their own. */
const fontKeys: Readonly<Record<FontFace, Readonly<Record<HanForms, string>>>> = {
  regular: keysOf('regular'),
  medium: keysOf('medium'),
  bold: keysOf('bold'),
  italic: keysOf('italic'),
};
