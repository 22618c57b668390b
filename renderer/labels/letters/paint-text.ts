/**
 * Paints texts with halos from distance fields of their letters.
 *
 * First, the distance of each pixel from the nearest letter is collected. Then halo and letters are blended in one
 * pass, because both follow from the distance.
 */
import { Color } from '@maplibre/maplibre-gl-style-spec';
import type { Surface } from '../../draw/surface.js';
import type { PixelBox } from '../../types.js';
import type { Run } from '../label.js';
import { baselineEm } from '../text/measure.js';
import { blurFactor, type FontStyle, type TextStyle } from '../text/text-style.js';
import { borderPx, fieldSizePx, type LetterField, maxOutsidePx, outlineValue, valuesPerPx } from './fields.js';
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
export interface FieldText {
  readonly style: TextStyle;
  readonly runs: readonly FieldRun[];
}

/**
 * Returns a text whose letters have fields. Undefined when letters change with their neighbours, are large, or have a
 * wider halo than fields know.
 */
export function fieldText(style: TextStyle, runs: readonly Run[], scale: number): FieldText | undefined {
  const found: FieldRun[] = [];
  for (const run of runs) {
    const font = run.section?.font ?? style;
    const letters = runLetters(run.text, font);
    const fontPx = font.sizePx * scale;
    const isDrawable = fontPx <= maxFontPx && reachPx(style, scale) / fontPx <= maxOutsidePx / fieldSizePx;
    if (!letters || !isDrawable) return undefined;
    found.push({ run, font, letters });
  }
  return { style, runs: found };
}

/** Returns how far a text is painted beyond its letters, in device pixels. */
function reachPx({ haloWidthPx, haloBlurPx }: TextStyle, scale: number): number {
  return haloWidthPx <= 0 ? smoothPx : scale * haloWidthPx + Math.max(smoothPx, scale * blurFactor * haloBlurPx);
}

/**
 * Paints a text inside a box of whole device pixels, which lies in the picture. `scale` is device pixels per CSS pixel.
 */
export function paintText(surface: Surface, scale: number, text: FieldText, box: PixelBox): void {
  const { style, runs } = text;
  const reach = reachPx(style, scale);
  const distances = distancesFor(reach, box);
  const colors = new Set(runs.map(({ run }) => run.section?.color ?? style.color));
  if (colors.size === 1) {
    for (const run of runs) collect(distances, scale, run);
    blend(distances, surface, shadesOf(style, scale, reach, true, [...colors][0]));
    return;
  }
  for (const run of runs) collect(distances, scale, run);
  blend(distances, surface, shadesOf(style, scale, reach, true));
  for (const color of colors) {
    for (const run of runs) if ((run.run.section?.color ?? style.color) === color) collect(distances, scale, run);
    blend(distances, surface, shadesOf(style, scale, reach, false, color));
  }
}

/** How near each pixel of a box is to a letter: 0 beyond the reach, 255 inside. */
interface Distances {
  readonly values: Uint8Array;
  readonly box: PixelBox;
  /** Width of the box. */
  readonly width: number;
  /** Values per device pixel. */
  readonly perPx: number;
  /** Columns of the picture that have values, for each row of the box. */
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** Rows of the picture that have values. */
  minY: number;
  maxY: number;
}

/** Number of pixels up to which the memory is kept for the next text: 1 MiB. */
const maxKeptPixels = 2 ** 20;
/** First column of a row without values. */
const noColumn = 0x7fffffff;
let keptValues = new Uint8Array(0);
let keptFrom = new Int32Array(0);
let keptTo = new Int32Array(0);

function distancesFor(reach: number, box: PixelBox): Distances {
  const [width, height] = [box.maxX - box.minX, box.maxY - box.minY];
  let values = keptValues;
  if (values.length < width * height) {
    values = new Uint8Array(width * height);
    if (values.length <= maxKeptPixels) keptValues = values;
  }
  if (keptFrom.length < height) {
    keptFrom = new Int32Array(height).fill(noColumn);
    keptTo = new Int32Array(height);
  }
  const perPx = 255 / (reach + smoothPx);
  return { values, box, width, perPx, from: keptFrom, to: keptTo, minY: box.maxY, maxY: box.minY - 1 };
}

/** Collects the distances of a run. */
function collect(distances: Distances, scale: number, { run, font, letters }: FieldRun): void {
  const fieldPx = (font.sizePx * scale) / fieldSizePx;
  const spacing = font.letterSpacingPx;
  const width = letters.widthEm * font.sizePx + spacing * (letters.letters.length - 1);
  const baseline = baselineEm(run.text) * font.sizePx * scale;
  const [cos, sin] = [Math.cos(run.angle), Math.sin(run.angle)];
  for (const [i, { field, xEm }] of letters.letters.entries()) {
    if (!field) continue;
    const along = (xEm * font.sizePx + i * spacing - width / 2) * scale;
    // Upper left corner of the field in device pixels.
    const right = along + field.left * fieldPx;
    const down = baseline - field.top * fieldPx;
    const left = run.x * scale + right * cos - down * sin;
    const top = run.y * scale + right * sin + down * cos;
    collectLetter(distances, field, left, top, cos / fieldPx, sin / fieldPx, fieldPx);
  }
}

/**
 * Collects the distances of a letter whose field has its corner at `left` and `top`. `cos` and `sin` are field pixels
 * along its rows and columns for each device pixel to the right.
 */
function collectLetter(
  distances: Distances,
  { values, width: columns, height: rows }: LetterField,
  left: number,
  top: number,
  cos: number,
  sin: number,
  fieldPx: number,
): void {
  const { values: nearest, width, box, perPx, from, to } = distances;
  // Fields are sampled between the centres of their pixels.
  const unused = borderPx - Math.min(borderPx - 1, 255 / perPx / fieldPx);
  const [minU, maxU] = [unused, columns - 1 - unused];
  const [minV, maxV] = [unused, rows - 1 - unused];
  const scale2 = fieldPx * fieldPx;
  // Device position of the sample (u, v), with u and v from the centre of the field's first pixel.
  const x0 = left + 0.5 * (cos - sin) * scale2;
  const y0 = top + 0.5 * (sin + cos) * scale2;
  const yOf = (u: number, v: number): number => y0 + (u * sin + v * cos) * scale2;
  const ys = [yOf(minU, minV), yOf(maxU, minV), yOf(minU, maxV), yOf(maxU, maxV)];
  const firstY = Math.max(box.minY, Math.ceil(Math.min(...ys) - 0.5));
  const lastY = Math.min(box.maxY - 1, Math.floor(Math.max(...ys) - 0.5));
  const factor = perPx * (fieldPx / valuesPerPx);
  const offset = 255.5 - perPx * smoothPx - factor * outlineValue;
  for (let y = firstY; y <= lastY; y++) {
    // The sample of the device pixel (x, y) is (u + x * cos, v - x * sin).
    const u = (y + 0.5 - y0) * sin + (0.5 - x0) * cos;
    const v = (y + 0.5 - y0) * cos - (0.5 - x0) * sin;
    let first = box.minX;
    let last = box.maxX - 1;
    if (Math.abs(cos) > 1e-9) {
      const [a, b] = [(minU - u) / cos, (maxU - u) / cos];
      first = Math.max(first, Math.ceil(Math.min(a, b)));
      last = Math.min(last, Math.floor(Math.max(a, b)));
    } else if (u < minU || u > maxU) continue;
    if (Math.abs(sin) > 1e-9) {
      const [a, b] = [(v - minV) / sin, (v - maxV) / sin];
      first = Math.max(first, Math.ceil(Math.min(a, b)));
      last = Math.min(last, Math.floor(Math.max(a, b)));
    } else if (v < minV || v > maxV) continue;
    if (first > last) continue;
    const boxRow = y - box.minY;
    if (first < from[boxRow]!) from[boxRow] = first;
    if (last >= to[boxRow]!) to[boxRow] = last + 1;
    for (let x = first, at = boxRow * width + first - box.minX; x <= last; x++, at++) {
      const sampleU = u + x * cos;
      const sampleV = v - x * sin;
      const column = sampleU | 0;
      const row = sampleV | 0;
      const i = row * columns + column;
      const shareU = sampleU - column;
      const upper = values[i]! + (values[i + 1]! - values[i]!) * shareU;
      const lower = values[i + columns]! + (values[i + columns + 1]! - values[i + columns]!) * shareU;
      const near = offset + factor * (upper + (lower - upper) * (sampleV - row));
      if (near > nearest[at]!) nearest[at] = Math.min(near, 255);
    }
  }
  if (firstY < distances.minY) distances.minY = firstY;
  if (lastY > distances.maxY) distances.maxY = lastY;
}

/** What is blended on a pixel, by its value: channels multiplied by opacity, 0 to 255 * 255, and opacity, 0 to 255. */
interface Shades {
  readonly red: Uint16Array;
  readonly green: Uint16Array;
  readonly blue: Uint16Array;
  readonly alpha: Uint8Array;
}

const shades: Shades = {
  red: new Uint16Array(256),
  green: new Uint16Array(256),
  blue: new Uint16Array(256),
  alpha: new Uint8Array(256),
};

/** Returns the shades of a halo, of letters in a colour, or of both. They are valid until the next call. */
function shadesOf(style: TextStyle, scale: number, reach: number, withHalo: boolean, color?: string): Shades {
  const halo = channelsOf(style.haloColor);
  const fill = channelsOf(color ?? style.color);
  const width = style.haloWidthPx * scale;
  const blur = blurFactor * style.haloBlurPx * scale;
  const haloOpacity = withHalo && width > 0 ? style.opacity * halo.alpha : 0;
  const fillOpacity = color === undefined ? 0 : style.opacity * fill.alpha;
  const boldness = 1 / gammaOf(fill);
  const { red, green, blue, alpha } = shades;
  for (let value = 0; value < 256; value++) {
    const distance = reach - ((reach + smoothPx) * value) / 255;
    const above = fillOpacity * fade(-distance, 0) ** boldness;
    const below = haloOpacity * fade(width - distance, blur) * (1 - above);
    red[value] = fill.red * above + halo.red * below + 0.5;
    green[value] = fill.green * above + halo.green * below + 0.5;
    blue[value] = fill.blue * above + halo.blue * below + 0.5;
    alpha[value] = 255 * (above + below) + 0.5;
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

/** Blends the shades on pixels, and clears the distances. */
function blend(distances: Distances, { pixels, width }: Surface, { red, green, blue, alpha }: Shades): void {
  const { values, box, from, to } = distances;
  for (let y = distances.minY; y <= distances.maxY; y++) {
    const row = y - box.minY;
    const end = y * width + to[row]!;
    let at = row * distances.width + from[row]! - box.minX;
    for (let i = y * width + from[row]!; i < end; i++, at++) {
      const value = values[at]!;
      if (value === 0) continue;
      values[at] = 0;
      const rest = 255 - alpha[value]!;
      const below = pixels[i]!;
      const r = rounded((below & 255) * rest + red[value]!);
      const g = rounded(((below >> 8) & 255) * rest + green[value]!);
      const b = rounded(((below >> 16) & 255) * rest + blue[value]!);
      pixels[i] = (r | (g << 8) | (b << 16) | 0xff000000) >>> 0;
    }
    from[row] = noColumn;
    to[row] = 0;
  }
  distances.minY = box.maxY;
  distances.maxY = box.minY - 1;
}

/** Divides by 255. */
const rounded = (product: number): number => Math.min(255, ((product + 128) * 257) >>> 16);
