/**
 * Makes and caches signed distance fields of letters.
 *
 * The value of a pixel says how far it is from the outline. So a field draws its letter in any size and direction, and
 * halos of any width up to a limit. Fields are made by TinySDF from pixels that the drawing engine fills.
 */
import TinySDF from '@mapbox/tiny-sdf';
import { type Canvas, createCanvas } from '@napi-rs/canvas';
import { type FontSelection, setFont } from '../../fonts.js';

/** Font size of the fields. Larger fields have sharper corners, and take more memory and time to make. */
export const fieldSizePx = 48;
/** Space around a letter. */
export const borderPx = 16;
/** Distances that the 256 values cover, from `insidePx` inside to the rest outside. */
const rangePx = 20;
const insideShare = 0.25;
/** Maximum distance outside a letter that values tell apart. Halos of that width can be drawn. */
export const maxOutsidePx = rangePx * (1 - insideShare);
/** Value of the outline. */
export const outlineValue = 255 * (1 - insideShare);
export const valuesPerPx = 255 / rangePx;
/** A letter's distance field. Lengths are pixels of the field. */
export interface LetterField {
  /** Row by row, with the border. */
  readonly values: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
  /** From the letter's position on the baseline to the field's left edge, and up to its upper edge. */
  readonly left: number;
  readonly top: number;
}

class Fields extends TinySDF {
  constructor(font: FontSelection) {
    super({ fontSize: fieldSizePx, buffer: borderPx, radius: rangePx, cutoff: insideShare });
    setFont(this.ctx, fieldSizePx, font);
  }

  protected override _createCanvas(side: number): Canvas {
    return createCanvas(side, side);
  }

  /** Returns null for a blank, and undefined for a letter that is too large. */
  of(letter: string): LetterField | null | undefined {
    const { data, width, height, glyphWidth, glyphHeight, glyphLeft, glyphTop } = this.draw(letter);
    if (glyphWidth === 0 || glyphHeight === 0) return null;
    if (Math.max(glyphWidth, glyphHeight) >= this.maxGlyphDim) return undefined;
    return { values: data, width, height, left: glyphLeft - borderPx, top: glyphTop + borderPx };
  }
}

const makers = new Map<string, Fields>();

/** Makes a field. `fontKey` identifies the font. */
export function makeField(letter: string, font: FontSelection, fontKey: string): LetterField | null | undefined {
  let maker = makers.get(fontKey);
  if (!maker) {
    maker = new Fields(font);
    makers.set(fontKey, maker);
  }
  return maker.of(letter);
}
