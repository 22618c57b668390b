/**
 * Paints texts with halos from distance fields of their letters.
 *
 * First, it is collected how near each pixel is to a letter. Then halo and letters are blended in one pass, because
 * both follow from that. The compiled painters do the work on pixels.
 */
import { Color } from '@maplibre/maplibre-gl-style-spec';
import { LRUCache } from 'lru-cache';
import type { Surface } from '../../draw/surface.js';
import type { Painters } from '../../raster/painters.js';
import type { PixelBox } from '../../types.js';
import type { Run } from '../label.js';
import { baselineEm } from '../text/measure.js';
import { blurredEdgePx, type FontStyle, haloFadePx, type TextStyle } from '../text/text-style.js';
import { borderPx, fieldSizePx, maxOutsidePx, outlineValue, valuesPerPx } from './fields.js';
import { type RunLetters, runLetters } from './run-letters.js';

/** Half the width over which an edge is smoothed, in device pixels. */
const smoothPx = 0.5;

/** Letters of larger fonts would have visibly round corners. Device pixels. */
const maxFontPx = 2 * fieldSizePx;

/** A run whose letters have fields. */
interface FieldRun {
  readonly run: Run;
  readonly font: FontStyle;
  readonly letters: RunLetters;
}

/** A text that can be painted from fields. */
interface FieldText {
  readonly style: TextStyle;
  readonly runs: readonly FieldRun[];
  /** How far it is painted beyond its letters, in device pixels. */
  readonly reachPx: number;
}

/**
 * Returns a text whose letters have fields. Undefined when letters change with their neighbours, are large, or have a
 * wider halo than fields know.
 */
export function fieldText(style: TextStyle, runs: readonly Run[], scale: number): FieldText | undefined {
  const found: FieldRun[] = [];
  let reach = reachPx(style, scale);
  const neededPx = reach - outerEdgePx(style);
  for (const run of runs) {
    const font = run.section?.font ?? style;
    const letters = runLetters(run.text, font);
    const fontPx = font.sizePx * scale;
    const knownPx = (fontPx * maxOutsidePx) / fieldSizePx;
    const isDrawable = fontPx <= maxFontPx && neededPx <= knownPx;
    if (!letters || !isDrawable) return undefined;
    reach = Math.min(reach, knownPx);
    found.push({ run, font, letters });
  }
  return { style, runs: found, reachPx: reach };
}

/** Returns the outermost part of a blurred halo, which is hardly seen. It is cut where fields know no more. */
const outerEdgePx = ({ haloWidthPx, haloBlurPx }: TextStyle): number =>
  haloWidthPx > 0 && haloBlurPx > 0 ? blurredEdgePx : 0;

/** Returns how far a text is painted beyond its letters, in device pixels. */
function reachPx({ haloWidthPx, haloBlurPx }: TextStyle, scale: number): number {
  return haloWidthPx <= 0 ? smoothPx : scale * haloWidthPx + Math.max(smoothPx, scale * haloFadePx(haloBlurPx, scale));
}

/**
 * Paints a text inside a box of whole device pixels, which lies in the picture. `scale` is device pixels per CSS pixel.
 */
export function paintText({ bitmap }: Surface, scale: number, text: FieldText, box: PixelBox): void {
  for (const band of bitmap.bands(box)) paintBand(bitmap.painters, scale, text, band);
}

function paintBand(painters: Painters, scale: number, { style, runs, reachPx: reach }: FieldText, box: PixelBox): void {
  const colorOf = ({ run }: FieldRun): string => run.section?.color ?? style.color;
  const colors = [...new Set(runs.map(colorOf))];
  const paint = (painted: readonly FieldRun[], shades: Uint16Array): void => {
    painters.beginText(box.minX, box.minY, box.maxX, box.maxY);
    for (const run of painted) collect(painters, scale, reach, run);
    new Uint16Array(painters.memory.buffer, painters.shadesAt.value, shades.length).set(shades);
    painters.fillText();
  };
  if (colors.length === 1) {
    paint(runs, shadesOf(style, scale, reach, true, colors[0]));
    return;
  }
  paint(runs, shadesOf(style, scale, reach, true));
  for (const color of colors)
    paint(
      runs.filter((run) => colorOf(run) === color),
      shadesOf(style, scale, reach, false, color),
    );
}

/** Collects how near pixels are to the letters of a run. */
function collect(painters: Painters, scale: number, reach: number, { run, font, letters }: FieldRun): void {
  const fieldPx = (font.sizePx * scale) / fieldSizePx;
  const spacing = font.letterSpacingPx;
  const width = letters.widthEm * font.sizePx + spacing * (letters.letters.length - 1);
  const baseline = baselineEm(run.text) * font.sizePx * scale;
  const [cos, sin] = [Math.cos(run.angle), Math.sin(run.angle)];
  const nearnessPerPx = 255 / (reach + smoothPx);
  const factor = nearnessPerPx * (fieldPx / valuesPerPx);
  const offset = 255.5 - nearnessPerPx * smoothPx - factor * outlineValue;
  const unused = borderPx - Math.min(borderPx - 1, 255 / nearnessPerPx / fieldPx);
  painters.beginLetters(cos / fieldPx, sin / fieldPx, fieldPx, unused, factor, offset);
  const memory = new Uint8Array(painters.memory.buffer, painters.pointsAt.value);
  for (const [i, { field, xEm }] of letters.letters.entries()) {
    if (!field) continue;
    const along = (xEm * font.sizePx + i * spacing - width / 2) * scale;
    // Upper left corner of the field in device pixels.
    const right = along + field.left * fieldPx;
    const down = baseline - field.top * fieldPx;
    memory.set(field.values);
    painters.addLetter(
      field.width,
      field.height,
      run.x * scale + right * cos - down * sin,
      run.y * scale + right * sin + down * cos,
    );
  }
}

/** Shades by what they follow from. A map has texts of about twenty styles. */
const knownShades = new LRUCache<string, Uint16Array>({ max: 200 });

/**
 * Returns what is blended on a pixel, by its nearness: red, green and blue multiplied by opacity, 0 to 255 * 255, and
 * what remains of the pixel below, 0 to 255. It is a halo, letters in a colour, or both.
 */
function shadesOf(style: TextStyle, scale: number, reach: number, withHalo: boolean, color?: string): Uint16Array {
  const { haloColor, haloWidthPx, haloBlurPx, opacity } = style;
  const key = JSON.stringify([withHalo && haloColor, haloWidthPx, haloBlurPx, opacity, scale, reach, color]);
  let shades = knownShades.get(key);
  if (!shades) {
    shades = makeShades(style, scale, reach, withHalo, color);
    knownShades.set(key, shades);
  }
  return shades;
}

function makeShades(style: TextStyle, scale: number, reach: number, withHalo: boolean, color?: string): Uint16Array {
  const halo = channelsOf(style.haloColor);
  const fill = channelsOf(color ?? style.color);
  const width = style.haloWidthPx * scale;
  const blur = scale * haloFadePx(style.haloBlurPx, scale);
  const haloOpacity = withHalo && width > 0 ? style.opacity * halo.alpha : 0;
  const fillOpacity = color === undefined ? 0 : style.opacity * fill.alpha;
  const boldness = 1 / gammaOf(fill);
  const shades = new Uint16Array(4 * 256);
  for (let value = 0; value < 256; value++) {
    const distance = reach - ((reach + smoothPx) * value) / 255;
    const above = fillOpacity * fade(-distance, 0) ** boldness;
    const below = haloOpacity * fade(width - distance, blur) * (1 - above);
    shades[4 * value] = fill.red * above + halo.red * below + 0.5;
    shades[4 * value + 1] = fill.green * above + halo.green * below + 0.5;
    shades[4 * value + 2] = fill.blue * above + halo.blue * below + 0.5;
    shades[4 * value + 3] = 255 - Math.floor(255 * (above + below) + 0.5);
  }
  return shades;
}

/** Brightness from which letters count as light, and the gamma of white ones. */
const lightFrom = 0.3;
const whiteGamma = 1.8;

/**
 * Returns the gamma of letters in a colour. Light letters would look thin on a dark map, because pixels are blended by
 * their encoded values. Half a pixel of white looks less than half as bright.
 */
function gammaOf({ red, green, blue }: Channels): number {
  const brightness = (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255 ** 2;
  return 1 + (whiteGamma - 1) * Math.max(0, (brightness - lightFrom) / (1 - lightFrom));
}

/** Returns the opacity at this many device pixels inside an edge. */
function fade(inside: number, blur: number): number {
  const half = Math.max(smoothPx, blur);
  const share = Math.max(0, Math.min(1, (inside + half) / (2 * half)));
  return blur === 0 ? share : share * share * (3 - 2 * share);
}

/** Channels from 0 to 255 * 255, and opacity from 0 to 1. */
interface Channels {
  readonly red: number;
  readonly green: number;
  readonly blue: number;
  readonly alpha: number;
}

const parsedColors = new Map<string, Channels>();
const maxParsedColors = 1_000;

function channelsOf(css: string): Channels {
  let channels = parsedColors.get(css);
  if (!channels) {
    // The specification's colours are multiplied by their opacity.
    const { r, g, b, a } = Color.parse(css) ?? Color.transparent;
    const full = a === 0 ? 0 : (255 * 255) / a;
    channels = { red: full * r, green: full * g, blue: full * b, alpha: a };
    if (parsedColors.size >= maxParsedColors) parsedColors.clear();
    parsedColors.set(css, channels);
  }
  return channels;
}
