/** What shapes are painted with. Pure. */

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
