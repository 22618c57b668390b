/** Chooses font faces by name. Loads no drawing engine, so that a thread that serves requests can use it. */
import type { FontFace } from '../../fonts.js';

/** Returns the bundled font face nearest to the first name of a font stack, such as `Open Sans Semibold`. */
export function faceOf([first = '']: readonly string[]): FontFace {
  if (/semi ?bold|demi ?bold|bold|black|heavy/i.test(first)) return 'bold';
  if (/italic|oblique/i.test(first)) return 'italic';
  return /medium/i.test(first) ? 'medium' : 'regular';
}
