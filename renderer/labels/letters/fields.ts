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
/** How much the values of a field change within a pixel of its size. */
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
  private fontKey = '';

  constructor() {
    super({ fontSize: fieldSizePx, buffer: borderPx, radius: rangePx, cutoff: insideShare });
  }

  protected override _createCanvas(side: number): Canvas {
    return createCanvas(side, side);
  }

  of(letter: string, font: FontSelection, fontKey: string): LetterField | null | undefined {
    if (fontKey !== this.fontKey) setFont(this.ctx, fieldSizePx, font);
    this.fontKey = fontKey;
    const { data, width, height, glyphWidth, glyphHeight, glyphLeft, glyphTop } = this.draw(letter);
    if (glyphWidth === 0 || glyphHeight === 0) return null;
    if (Math.max(glyphWidth, glyphHeight) >= this.maxGlyphDim) return undefined;
    return { values: data, width, height, left: glyphLeft - borderPx, top: glyphTop + borderPx };
  }
}

/** One for all fonts, because it has 300 kB of memory to work with. */
let fields: Fields | undefined;

/**
 * Makes a letter's field. `fontKey` identifies the font. Returns null for a blank, and undefined for a letter that is
 * too large.
 */
export function makeField(letter: string, font: FontSelection, fontKey: string): LetterField | null | undefined {
  fields ??= new Fields();
  return fields.of(letter, font, fontKey);
}
