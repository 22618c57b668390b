/** Reads a text's font, colours and halo from the style. Pure. */

import type { Color } from '@maplibre/maplibre-gl-style-spec';
import type { FontFace, HanForms } from '../../fonts.js';
import type { StyleLayer } from '../../style/compile.js';
import type { TileFeature } from '../../tiles/vector-tile.js';
import { hanForms, isSeparable } from './script.js';

/** The properties that the width of a text depends on. */
export interface FontStyle {
  readonly face: FontFace;
  readonly han: HanForms;
  readonly sizePx: number;
  readonly letterSpacingPx: number;
}

export interface TextStyle extends FontStyle {
  /** CSS colours. */
  readonly color: string;
  readonly haloColor: string;
  /** 0 for no halo. */
  readonly haloWidthPx: number;
  readonly opacity: number;
}

/** Returns the style of a feature's text at this zoom, or null when the text would be invisible. */
export function textStyleOf(
  layer: StyleLayer,
  feature: TileFeature,
  zoom: number,
  text: string,
  language: string,
): TextStyle | null {
  const wholeZoom = Math.floor(zoom);
  const layout = <T>(name: string): T => layer.property<T>(name).at(wholeZoom, feature);
  const paint = <T>(name: string): T => layer.property<T>(name).at(zoom, feature);

  // Like paint properties, the size is interpolated between whole zooms.
  const sizePx = paint<number>('text-size');
  const opacity = paint<number>('text-opacity');
  if (sizePx <= 0 || opacity === 0) return null;
  const haloColor = paint<Color>('text-halo-color');
  return {
    face: faceOf(layout<readonly string[]>('text-font')),
    han: hanForms(text, language),
    sizePx,
    letterSpacingPx: isSeparable(text) ? layout<number>('text-letter-spacing') * sizePx : 0,
    color: paint<Color>('text-color').toString(),
    haloColor: haloColor.toString(),
    haloWidthPx: haloColor.a === 0 ? 0 : paint<number>('text-halo-width'),
    opacity,
  };
}

/** Returns the bundled font face nearest to the first name of a font stack, such as `Open Sans Semibold`. */
export function faceOf([first = '']: readonly string[]): FontFace {
  if (/semi ?bold|demi ?bold|bold|black|heavy/i.test(first)) return 'bold';
  if (/italic|oblique/i.test(first)) return 'italic';
  return /medium/i.test(first) ? 'medium' : 'regular';
}
