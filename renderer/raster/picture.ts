/** What shapes are painted on, and with what. Pure. */

import type { PixelBox } from '../types.js';

/** Opaque pixels, and the part of them that shapes may change. */
export interface Picture {
  /** Row by row: red, green, blue and 255 in the order of bytes. */
  readonly pixels: Uint32Array;
  /** Pixels of a row. */
  readonly width: number;
  /** In whole pixels, inside the picture. */
  readonly area: PixelBox;
}

/** Stands for a picture between two paintings, so that the last one does not stay in memory. */
export const noPicture: Picture = {
  pixels: new Uint32Array(0),
  width: 0,
  area: { minX: 0, minY: 0, maxX: 0, maxY: 0 },
};

/** A plain colour. */
export interface Ink {
  /** An opaque pixel of this colour, as a signed integer. */
  readonly word: number;
  /** 0 to 256. */
  readonly opacity: number;
}

/** Opacity in every pixel, as a signed integer. */
const opaque = 0xff << 24;

/** Returns the ink of a colour of 0 to 255 each, with an opacity of 0 to 1. */
export function inkOf(red: number, green: number, blue: number, opacity: number): Ink {
  return { word: red | (green << 8) | (blue << 16) | opaque, opacity: Math.round(256 * opacity) };
}

/** Returns a pixel after it was painted with a colour at an opacity of 0 to 256. */
export function blended(pixel: number, word: number, opacity: number): number {
  // Red and blue have space for one product in a word. Differences that are negative borrow, and the sum returns it.
  const redBlue = pixel & 0xff00ff;
  const green = pixel & 0xff00;
  const newRedBlue = redBlue + ((Math.imul((word & 0xff00ff) - redBlue, opacity) + 0x800080) >> 8);
  const newGreen = green + ((Math.imul((word & 0xff00) - green, opacity) + 0x8000) >> 8);
  return (newRedBlue & 0xff00ff) | (newGreen & 0xff00) | opaque;
}

/** Number of pixels from which the runtime's own `fill` is faster than a loop. */
const minFilled = 24;

/** Paints a run of pixels at an opacity of 0 to 256. */
export function paintRun(pixels: Uint32Array, from: number, to: number, word: number, opacity: number): void {
  if (opacity === 256) {
    if (to - from >= minFilled) pixels.fill(word, from, to);
    else for (let i = from; i < to; i++) pixels[i] = word;
    return;
  }
  // Most neighbours have the same colour.
  let last = opaque;
  let result = blended(last, word, opacity);
  for (let i = from; i < to; i++) {
    const pixel = pixels[i]! | 0;
    if (pixel !== last) {
      last = pixel;
      result = blended(pixel, word, opacity);
    }
    pixels[i] = result;
  }
}
