/**
 * Paints texts from distance fields of their letters: first it collects how near each pixel is to a letter, and then it
 * blends what the text looks like at that distance.
 *
 * Nearness is 0 beyond the reach of the text, and 255 inside of letters. It has the memory of the mask, which is 0
 * between two texts.
 */
import { maskAt, pointsAt, shadesAt, spansAt } from './memory';
import { addressOf } from './pixels';

/** The box of the text, in pixels of the picture. */
let minX: i32 = 0;
let minY: i32 = 0;
let maxX: i32 = 0;
let maxY: i32 = 0;
/** Rows of the picture that have values. */
let firstRow: i32 = 0;
let lastRow: i32 = -1;

/** Field pixels along a field's rows and columns for each pixel to the right. */
let cosine: f64 = 0;
let sine: f64 = 0;
/** Pixels for each field pixel. */
let fieldPx: f64 = 0;
/** Field pixels at each side of a field that are beyond the reach. */
let unused: f64 = 0;
/** Nearness is `offset` and `factor` times the value of the field. */
let factor: f64 = 0;
let offset: f64 = 0;

/** Begins a text in a box of at most `maxPixelsAtOnce` pixels and `maxRowsAtOnce` rows. */
export function beginText(boxMinX: i32, boxMinY: i32, boxMaxX: i32, boxMaxY: i32): void {
  minX = boxMinX;
  minY = boxMinY;
  maxX = boxMaxX;
  maxY = boxMaxY;
  firstRow = maxY;
  lastRow = minY - 1;
  for (let row = 0; row < maxY - minY; row++) setSpan(row, i32.MAX_VALUE, 0);
}

/** Columns of the picture that have values, in a row of the box: from one to before another. */
function setSpan(row: i32, from: i32, to: i32): void {
  store<i32>(spansAt + 8 * usize(row), from);
  store<i32>(spansAt + 8 * usize(row), to, 4);
}

function spanFrom(row: i32): i32 {
  return load<i32>(spansAt + 8 * usize(row));
}

function spanTo(row: i32): i32 {
  return load<i32>(spansAt + 8 * usize(row), 4);
}

/** Begins letters of one size and angle. */
export function beginLetters(
  cosineOfField: f64,
  sineOfField: f64,
  pixelsPerFieldPixel: f64,
  unusedFieldPixels: f64,
  nearnessFactor: f64,
  nearnessOffset: f64,
): void {
  cosine = cosineOfField;
  sine = sineOfField;
  fieldPx = pixelsPerFieldPixel;
  unused = unusedFieldPixels;
  factor = nearnessFactor;
  offset = nearnessOffset;
}

/** Adds the letter whose field is in the memory of points. The field has its corner at `left` and `top`, in pixels. */
export function addLetter(columns: i32, rows: i32, left: f64, top: f64): void {
  // Fields are sampled between the centres of their pixels.
  const maxU = f64(columns - 1) - unused;
  const maxV = f64(rows - 1) - unused;
  const scale2 = fieldPx * fieldPx;
  // Where the sample (u, v) lies in the picture, with u and v from the centre of the field's first pixel.
  const x0 = left + 0.5 * (cosine - sine) * scale2;
  const y0 = top + 0.5 * (sine + cosine) * scale2;
  const leastY = y0 + (min(unused * sine, maxU * sine) + min(unused * cosine, maxV * cosine)) * scale2;
  const mostY = y0 + (max(unused * sine, maxU * sine) + max(unused * cosine, maxV * cosine)) * scale2;
  const firstY = i32(max(f64(minY), ceil(leastY - 0.5)));
  const lastY = i32(min(f64(maxY - 1), floor(mostY - 0.5)));
  for (let y = firstY; y <= lastY; y++) {
    // The sample of the pixel (x, y) is (u + x * cosine, v - x * sine).
    const u = (f64(y) + 0.5 - y0) * sine + (0.5 - x0) * cosine;
    const v = (f64(y) + 0.5 - y0) * cosine - (0.5 - x0) * sine;
    let first = f64(minX);
    let last = f64(maxX - 1);
    if (abs(cosine) > 1e-9) {
      const a = (unused - u) / cosine;
      const b = (maxU - u) / cosine;
      first = max(first, ceil(min(a, b)));
      last = min(last, floor(max(a, b)));
    } else if (u < unused || u > maxU) continue;
    if (abs(sine) > 1e-9) {
      const a = (v - unused) / sine;
      const b = (v - maxV) / sine;
      first = max(first, ceil(min(a, b)));
      last = min(last, floor(max(a, b)));
    } else if (v < unused || v > maxV) continue;
    if (first <= last) collectRow(y, i32(first), i32(last), u, v, columns);
  }
  firstRow = min(firstRow, firstY);
  lastRow = max(lastRow, lastY);
}

function collectRow(y: i32, first: i32, last: i32, u: f64, v: f64, columns: i32): void {
  const row = y - minY;
  setSpan(row, min(first, spanFrom(row)), max(last + 1, spanTo(row)));
  let at = nearnessAt(row, first);
  for (let x = first; x <= last; x++) {
    const sampleU = u + f64(x) * cosine;
    const sampleV = v - f64(x) * sine;
    const column = i32(sampleU);
    const fieldRow = i32(sampleV);
    const shareU = sampleU - f64(column);
    const value = pointsAt + usize(fieldRow * columns + column);
    const upper = between(value, shareU);
    const lower = between(value + usize(columns), shareU);
    const near = offset + factor * (upper + (lower - upper) * (sampleV - f64(fieldRow)));
    if (near > f64(load<u8>(at))) store<u8>(at, u8(min(near, 255)));
    at++;
  }
}

/** Returns the value of a field between a pixel and the next one. */
function between(at: usize, share: f64): f64 {
  const value = f64(load<u8>(at));
  return value + (f64(load<u8>(at, 1)) - value) * share;
}

/** Returns the address of the nearness of a pixel: a row of the box, and a column of the picture. */
function nearnessAt(row: i32, column: i32): usize {
  return maskAt + usize(row * (maxX - minX) + column - minX);
}

/** Blends the shades, which are in memory by nearness, and forgets the text. */
export function fillText(): void {
  for (let y = firstRow; y <= lastRow; y++) {
    const row = y - minY;
    const from = spanFrom(row);
    let nearness = nearnessAt(row, from);
    let pixel = addressOf(from, y);
    for (let x = from; x < spanTo(row); x++) {
      const near = load<u8>(nearness);
      if (near !== 0) {
        store<u8>(nearness, 0);
        blendShade(pixel, near);
      }
      nearness++;
      pixel += 4;
    }
  }
}

/** Blends a shade: channels multiplied by opacity, 0 to 255 * 255, and what remains of the pixel below, 0 to 255. */
function blendShade(pixel: usize, near: u8): void {
  const shade = v128.load64_zero(shadesAt + 8 * usize(near));
  const above = i32x4.extend_low_i16x8_u(shade);
  const below = i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(v128.load32_zero(pixel)));
  const rest = i32x4.splat(i32x4.extract_lane(above, 3));
  const products = i32x4.add(i32x4.mul(below, rest), above);
  // Divided by 255.
  const rounded = i32x4.shr_u(i32x4.mul(i32x4.add(products, i32x4.splat(128)), i32x4.splat(257)), 16);
  const words = i16x8.narrow_i32x4_u(rounded, rounded);
  const bytes = i8x16.narrow_i16x8_u(words, words);
  store<u32>(pixel, u32(i32x4.extract_lane(bytes, 0)) | 0xff000000);
}
