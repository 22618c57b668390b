/** What shapes are painted on. */
import type { PixelBox } from '../types.js';
import type { Bitmap } from './bitmap.js';

/** Opaque pixels, and the part of them that shapes may change. */
export interface Picture {
  readonly bitmap: Bitmap;
  /** In whole pixels, inside the picture. */
  readonly area: PixelBox;
}
