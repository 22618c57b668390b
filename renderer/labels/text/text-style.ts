/** Reads a text's font, colours and halo from the style. Pure. */
import type { Color } from '@maplibre/maplibre-gl-style-spec';
import { type FontSelection, familiesFor } from '../../fonts.js';
import type { StyleLayer } from '../../style/compile.js';
import type { TileFeature } from '../../tiles/vector-tile.js';
import { faceOf } from './font-face.js';
import type { LabelSection } from './label-text.js';
import { hanForms, isSeparable } from './script.js';

/** The properties that the width of a text depends on. */
export interface FontStyle extends FontSelection {
  readonly sizePx: number;
  readonly letterSpacingPx: number;
}

/** The font, size and colour of a section of a text. */
export interface SectionStyle extends FontSelection {
  /** Where the section ends in the text, in UTF-16 code units. It begins where the one before ends. */
  readonly end: number;
  /** Factor to the size of the text. */
  readonly scale: number;
  /** CSS colour; null for that of the text. */
  readonly color: string | null;
}

/** Factor to a halo's blur, from the shaders of MapLibre GL JS. */
const blurFactor = 1.19;
/** What the edge of a blurred halo fades in addition, on each side, in their shaders. Device pixels. */
export const blurredEdgePx = 0.84;

/** Returns how far a halo fades on each side of its edge, in CSS pixels; 0 without blur. */
export const haloFadePx = (haloBlurPx: number, scale: number): number =>
  haloBlurPx === 0 ? 0 : blurFactor * haloBlurPx + blurredEdgePx / scale;

/** Maximum width of a halo as a share of the size, from the specification. */
const maxHaloShare = 1 / 4;

/** How a text is drawn. */
export interface TextStyle extends FontStyle {
  /** CSS colours. */
  readonly color: string;
  readonly haloColor: string;
  /** 0 for no halo. */
  readonly haloWidthPx: number;
  /** The style's blur, from which {@link haloFadePx} follows. */
  readonly haloBlurPx: number;
  /** Null for a text of one style. */
  readonly sections: readonly SectionStyle[] | null;
  readonly opacity: number;
}

const cssTexts = new WeakMap<Color, string>();

/** Returns a colour as CSS. Most properties have the same object for all features. */
function cssOf(color: Color): string {
  let css = cssTexts.get(color);
  if (css === undefined) {
    css = color.toString();
    cssTexts.set(color, css);
  }
  return css;
}

/** Returns the style of a feature's text at this zoom, or null when the text would be invisible. */
export function textStyleOf(
  layer: StyleLayer,
  feature: TileFeature,
  zoom: number,
  text: string,
  language: string,
  sections: readonly LabelSection[] | null = null,
): TextStyle | null {
  const wholeZoom = Math.floor(zoom);
  const layout = <T>(name: string): T => layer.property<T>(name).at(wholeZoom, feature);
  const paint = <T>(name: string): T => layer.property<T>(name).at(zoom, feature);

  // Like paint properties, the size is interpolated between whole zooms.
  const sizePx = paint<number>('text-size');
  const opacity = paint<number>('text-opacity');
  if (sizePx <= 0 || opacity === 0) return null;
  const haloColor = paint<Color>('text-halo-color');
  const face = faceOf(layout<readonly string[]>('text-font'));
  const han = hanForms(text, language);
  return {
    face,
    han,
    families: familiesFor(text),
    sizePx,
    letterSpacingPx: isSeparable(text) ? layout<number>('text-letter-spacing') * sizePx : 0,
    color: cssOf(paint('text-color')),
    haloColor: cssOf(haloColor),
    haloWidthPx: haloColor.a === 0 ? 0 : Math.min(paint<number>('text-halo-width'), maxHaloShare * sizePx),
    haloBlurPx: Math.max(0, paint<number>('text-halo-blur')),
    sections: sections?.map(styleOfSection) ?? null,
    opacity,
  };

  function styleOfSection({ end, scale, color, fonts }: LabelSection, i: number): SectionStyle {
    const part = text.slice(sections?.[i - 1]?.end ?? 0, end);
    return { end, scale, color, face: fonts ? faceOf(fonts) : face, han, families: familiesFor(part) };
  }
}
