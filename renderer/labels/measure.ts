/** How wide texts are. Widths are remembered: the drawing engine takes as long to measure a new text as to draw it. */

import { createCanvas } from '@napi-rs/canvas';
import { LRUCache } from 'lru-cache';
import { fontOf } from '../fonts.js';
import { lettersOf } from './script.js';
import type { Type } from './text-style.js';

/** Outlines aren't fitted to pixels, so widths grow with the size: they are measured at one. */
const measuredSizePx = 32;

const maxWidths = 20_000;
const maxTexts = 2_000;

const ruler = createCanvas(1, 1).getContext('2d');
const widths = new LRUCache<string, number>({ max: maxWidths });
const letters = new LRUCache<string, readonly string[]>({ max: maxTexts });

/** In CSS pixels; letter spacing stands between letters, not after the last. */
export function textWidth(text: string, type: Type): number {
  const spacing = type.letterSpacingPx === 0 ? 0 : type.letterSpacingPx * (splitLetters(text).length - 1);
  return (unspacedWidth(text, type) * type.sizePx) / measuredSizePx + spacing;
}

/** The letters of a text with the width of each, letter spacing included. */
export function letterWidths(text: string, type: Type): { readonly letter: string; readonly width: number }[] {
  return splitLetters(text).map((letter) => ({
    letter,
    width: (unspacedWidth(letter, type) * type.sizePx) / measuredSizePx + type.letterSpacingPx,
  }));
}

function unspacedWidth(text: string, { face, han }: Type): number {
  const key = `${face} ${han} ${text}`;
  let width = widths.get(key);
  if (width === undefined) {
    ruler.font = fontOf(measuredSizePx, face, han);
    width = ruler.measureText(text).width;
    widths.set(key, width);
  }
  return width;
}

function splitLetters(text: string): readonly string[] {
  let split = letters.get(text);
  if (!split) {
    split = lettersOf(text);
    letters.set(text, split);
  }
  return split;
}
