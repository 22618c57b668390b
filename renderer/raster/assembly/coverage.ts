/**
 * Fills areas, antialiased by the exact share of each pixel that they cover.
 *
 * Each edge of an area adds to the pixels that it crosses how the covered share changes there, from left to right. The
 * sum along a row is the covered share, so only pixels with edges are added up. Sums are integers: edges that
 * neighbouring areas share cancel out exactly.
 */
import { changedAt, pointsAt, sumsAt } from './memory';
import { addressOf, paintFour, paintRun } from './pixels';

/** Coordinates are whole numbers of these parts of a pixel: 2 to this power. */
const subpixelBits: i32 = 8;
const subpixels: i32 = 2 ** subpixelBits;
/** The sum of a covered pixel is 2 to this power: its height, times twice its width. */
const wholeBits: i32 = 2 * subpixelBits + 1;
const whole: i32 = 2 ** wholeBits;
/** Shift from sums to shares of 0 to 256. */
const shareBits: i32 = wholeBits - 8;
/** Shift from columns to twice their subpixels. */
const doubleBits: i32 = subpixelBits + 1;
/** Coordinates beyond these subpixels, up or down, are computed as fractions. */
const maxInteger: f64 = 2 ** 30;

/** The window: the part of the picture that the areas may touch. Whole pixels. */
let left: i32 = 0;
let top: i32 = 0;
let columns: i32 = 0;
let rows: i32 = 0;
let wordsPerRow: i32 = 0;
/** Rows of the window with edges. */
let firstRow: i32 = 0;
let lastRow: i32 = -1;

/** Begins areas in a window, in pixels. */
export function beginAreas(windowLeft: i32, windowTop: i32, windowColumns: i32, windowRows: i32): void {
  left = windowLeft;
  top = windowTop;
  columns = windowColumns;
  rows = windowRows;
  // An edge at the right end touches two more columns.
  wordsPerRow = (columns + 2 + 31) >> 5;
  firstRow = rows;
  lastRow = -1;
}

/** Adds the edges between points, in subpixels of the picture. `winding` is 1 or −1. */
export function addEdges(points: i32, winding: i32): void {
  const shiftX = f64(left * subpixels);
  const shiftY = f64(top * subpixels);
  const right = columns << subpixelBits;
  const bottom = rows << subpixelBits;
  let lastX = load<f64>(pointsAt) - shiftX;
  let lastY = load<f64>(pointsAt, 8) - shiftY;
  for (let i = 1; i < points; i++) {
    const at = pointsAt + 16 * usize(i);
    const thisX = load<f64>(at) - shiftX;
    const thisY = load<f64>(at, 8) - shiftY;
    if (lastY < thisY) addEdge(lastX, lastY, thisX, thisY, winding, right, bottom);
    else addEdge(thisX, thisY, lastX, lastY, -winding, right, bottom);
    lastX = thisX;
    lastY = thisY;
  }
}

/** Adds an edge from top to bottom, in subpixels of the window. */
function addEdge(x0: f64, y0: f64, x1: f64, y1: f64, sign: i32, right: i32, bottom: i32): void {
  if (y0 === y1 || y1 <= 0 || y0 >= f64(bottom) || (x0 >= f64(right) && x1 >= f64(right))) return;
  const from = y0 > 0 ? i32(y0) : 0;
  const to = y1 < f64(bottom) ? i32(y1) : bottom;
  firstRow = min(firstRow, from >> subpixelBits);
  lastRow = max(lastRow, (to - 1) >> subpixelBits);
  if (x0 <= 0 && x1 <= 0) addUpright(0, from, to, sign);
  else if (min(x0, x1) < 0 || max(x0, x1) > f64(right)) addAcross(x0, y0, x1, y1, from, to, sign, right);
  else if (x0 === x1) addUpright(i32(x0), from, to, sign);
  else if (y0 > -maxInteger && y1 < maxInteger) addSlanted(i32(x0), i32(y0), i32(x1), i32(y1), from, to, sign);
  else addAcross(x0, y0, x1, y1, from, to, sign, right);
}

/** Adds to the sum of a pixel. */
function addTo(pixel: i32, change: i32): void {
  const at = sumsAt + 4 * usize(pixel);
  store<i32>(at, load<i32>(at) + change);
}

/** Notes that sums of a row change. */
function note(word: i32, bits: u32): void {
  const at = changedAt + 4 * usize(word);
  store<u32>(at, load<u32>(at) | bits);
}

function noteColumns(row: i32, from: i32, to: i32): void {
  for (let column = from; column < to; column++) note(row * wordsPerRow + (column >> 5), 1 << (column & 31));
}

function addUpright(x: i32, from: i32, to: i32, sign: i32): void {
  const column = x >> subpixelBits;
  const right = (x & (subpixels - 1)) << 1;
  const bits: u32 = 3 << (column & 31);
  const isSplit = (column & 31) === 31;
  let row = from >> subpixelBits;
  let word = row * wordsPerRow + (column >> 5);
  let pixel = ((row * wordsPerRow) << 5) + column;
  let y = from;
  while (y < to) {
    row++;
    const end = min(to, row << subpixelBits);
    const height = (end - y) * sign;
    const after = height * right;
    addTo(pixel, (height << doubleBits) - after);
    addTo(pixel + 1, after);
    note(word, bits);
    if (isSplit) note(word + 1, 1);
    pixel += wordsPerRow << 5;
    word += wordsPerRow;
    y = end;
  }
}

/** Adds an edge inside the window from left to right. */
function addSlanted(x0: i32, y0: i32, x1: i32, y1: i32, from: i32, to: i32, sign: i32): void {
  const slope = f64(x1 - x0) / f64(y1 - y0);
  const rise = abs(1 / slope);
  const origin = f64(x0) - slope * f64(y0) + 0.5;
  let row = from >> subpixelBits;
  let x = from === y0 ? x0 : i32(origin + slope * f64(from));
  let y = from;
  while (y < to) {
    const end = min(to, (row + 1) << subpixelBits);
    const endX = end === y1 ? x1 : i32(origin + slope * f64(end));
    const low = slope > 0 ? x : endX;
    const high = slope > 0 ? endX : x;
    const column = low >> subpixelBits;
    const more = (high >> subpixelBits) - column;
    const pixel = ((row * wordsPerRow) << 5) + column;
    const height = (end - y) * sign;
    if (more === 0) {
      const after = height * (low + high - (column << doubleBits));
      addTo(pixel, (height << doubleBits) - after);
      addTo(pixel + 1, after);
    } else if (more === 1) {
      const border = (column + 1) << subpixelBits;
      const part = i32(rise * f64(border - low) + 0.5) * sign;
      const rest = height - part;
      const after = part * (low + border - (column << doubleBits));
      const restAfter = rest * (high - border);
      addTo(pixel, (part << doubleBits) - after);
      addTo(pixel + 1, after + (rest << doubleBits) - restAfter);
      addTo(pixel + 2, restAfter);
    } else addFlat(row, low, high, end - y, rise, sign);
    const bit = column & 31;
    if (bit + more < 30) note(row * wordsPerRow + (column >> 5), ((1 << (more + 2)) - 1) << bit);
    else noteColumns(row, column, column + more + 2);
    x = endX;
    y = end;
    row++;
  }
}

/** Adds a part of an edge inside one row and the window, which crosses several pixels. */
function addFlat(row: i32, low: i32, high: i32, height: i32, rise: f64, sign: i32): void {
  let column = low >> subpixelBits;
  let pixel = ((row * wordsPerRow) << 5) + column;
  let x = low;
  let done = 0;
  while (x < high) {
    const end = min(high, (column + 1) << subpixelBits);
    const until = end === high ? height : i32(rise * f64(end - low) + 0.5);
    const part = (until - done) * sign;
    const after = part * (x + end - (column << doubleBits));
    addTo(pixel, (part << doubleBits) - after);
    addTo(pixel + 1, after);
    done = until;
    x = end;
    column++;
    pixel++;
  }
}

/** Adds an edge that leaves the window at the left or right. */
function addAcross(x0: f64, y0: f64, x1: f64, y1: f64, from: i32, to: i32, sign: i32, right: i32): void {
  const slope = (x1 - x0) / (y1 - y0);
  const rise = abs(1 / slope);
  const origin = x0 - slope * y0 + 0.5;
  let x = f64(from) === y0 ? x0 : floor(origin + slope * f64(from));
  for (let y = from; y < to; ) {
    const row = y >> subpixelBits;
    const end = min(to, (row + 1) << subpixelBits);
    const endX = f64(end) === y1 ? x1 : floor(origin + slope * f64(end));
    addAcrossRow(row, min(x, endX), max(x, endX), end - y, rise, sign, right);
    x = endX;
    y = end;
  }
}

function addAcrossRow(row: i32, low: f64, high: f64, height: i32, rise: f64, sign: i32, right: i32): void {
  if (low >= f64(right)) return;
  const outside = high <= 0 ? height : i32(min(f64(height), max(0, floor(rise * -low + 0.5))));
  const y = row << subpixelBits;
  if (outside > 0) addUpright(0, y, y + outside, sign);
  if (high <= 0) return;
  if (low === high) {
    addUpright(i32(low), y, y + height, sign);
    return;
  }
  let x = i32(max(0, low));
  const first = x >> subpixelBits;
  let column = first;
  let done = outside;
  while (f64(x) < high && x < right) {
    const end = i32(min(high, f64((column + 1) << subpixelBits)));
    const until = f64(end) === high ? height : i32(min(f64(height), floor(rise * (f64(end) - low) + 0.5)));
    const part = (until - done) * sign;
    const after = part * (x + end - (column << doubleBits));
    const pixel = ((row * wordsPerRow) << 5) + column;
    addTo(pixel, (part << doubleBits) - after);
    addTo(pixel + 1, after);
    done = until;
    x = end;
    column++;
  }
  noteColumns(row, first, column + 1);
}

/** Paints the areas that were added. Where they overlap they count once. */
export function fillAreas(color: u32, opacity: i32): void {
  for (let row = firstRow; row <= lastRow; row++) fillRow(row, color, opacity);
}

function fillRow(row: i32, color: u32, opacity: i32): void {
  const firstPixel = addressOf(left, top + row);
  const firstWord = changedAt + 4 * usize(row * wordsPerRow);
  const firstSum = sumsAt + 4 * usize((row * wordsPerRow) << 5);
  /** The sum and the opacity of the pixels from `x` on. */
  let sum = 0;
  let share = 0;
  let x = 0;
  for (let word = 0; word < wordsPerRow; word++) {
    let bits = load<u32>(firstWord + 4 * usize(word));
    if (bits === 0) continue;
    store<u32>(firstWord + 4 * usize(word), 0);
    do {
      // Four pixels at once, of which at least one changes.
      const bit = ctz(bits) & ~3;
      bits &= ~(0xf << bit);
      const column = (word << 5) + i32(bit);
      if (share !== 0) paintRun(firstPixel + 4 * usize(x), firstPixel + 4 * usize(column), color, share);
      const at = firstSum + 4 * usize(column);
      const sums = i32x4.add(sumsUpTo(v128.load(at)), i32x4.splat(sum));
      v128.store(at, i32x4.splat(0));
      const shares = sharesOf(sums, opacity);
      paintFour(firstPixel + 4 * usize(column), color, v128.and(shares, areBelow(column, columns)));
      sum = i32x4.extract_lane(sums, 3);
      share = i32x4.extract_lane(shares, 3);
      x = column + 4;
    } while (bits !== 0);
  }
  if (share !== 0) paintRun(firstPixel + 4 * usize(x), firstPixel + 4 * usize(columns), color, share);
}

/** Returns the sum of each lane with those before it. */
function sumsUpTo(changes: v128): v128 {
  const zero = i32x4.splat(0);
  const pairs = i32x4.add(changes, v128.shuffle<i32>(zero, changes, 0, 4, 5, 6));
  return i32x4.add(pairs, v128.shuffle<i32>(zero, pairs, 0, 0, 4, 5));
}

/** Returns the opacities of 0 to 256 in pixels with these sums. */
function sharesOf(sums: v128, opacity: i32): v128 {
  const sizes = i32x4.min_s(i32x4.abs(sums), i32x4.splat(whole));
  const covered = i32x4.shr_u(i32x4.add(sizes, i32x4.splat(1 << (shareBits - 1))), shareBits);
  return i32x4.shr_u(i32x4.mul(covered, i32x4.splat(opacity)), 8);
}

/** Returns lanes with all bits for the columns from `column` on that are below a limit. */
function areBelow(column: i32, limit: i32): v128 {
  return i32x4.lt_s(i32x4.add(i32x4.splat(column), i32x4(0, 1, 2, 3)), i32x4.splat(limit));
}
