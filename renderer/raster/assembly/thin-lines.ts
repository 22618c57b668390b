/**
 * Paints lines that are hardly wider than a pixel. They are most of a map's edges, and outlines of areas all have one
 * pixel.
 *
 * A line covers a short run of pixels in each column, or in each row where it is steep. How much of a pixel is covered
 * is noted in a mask, which is painted at the end: lines that overlap cover a pixel once.
 */
import { maskAt, pointsAt, touchedAt } from './memory';
import { addressOf, paintFour, width as pictureWidth } from './pixels';

/** The next segment has the same axis. Each pixel along it belongs to the segment that has its middle. */
const straight: i32 = 0;
/** The next segment has the other axis. Pixels are covered as far as this one reaches into them. */
const turn: i32 = 1;
/** The line ends with a cap. */
const end: i32 = 2;

/** Share by which a diagonal segment may be steeper than 45 degrees. */
const diagonalTolerance: f64 = 1e-6;

/** The part of the picture that may change. Whole pixels. */
let minX: i32 = 0;
let minY: i32 = 0;
let maxX: i32 = 0;
let maxY: i32 = 0;
/** Words of `touched` in a row: one for 128 pixels. */
let wordsPerRow: i32 = 0;
/** Where the mask of the picture's first row would be: it begins with the area. */
let origin: usize = 0;
let firstRow: i32 = 0;
let lastRow: i32 = -1;
let widthPx: f64 = 0;
let capPx: f64 = 0;

/** Begins lines in an area. `cap` is how far caps reach beyond the ends. All in pixels. */
export function beginLines(areaMinX: i32, areaMinY: i32, areaMaxX: i32, areaMaxY: i32, width: f64, cap: f64): void {
  minX = areaMinX;
  minY = areaMinY;
  maxX = areaMaxX;
  maxY = areaMaxY;
  wordsPerRow = (pictureWidth + 127) >> 7;
  origin = maskAt - usize((minY * wordsPerRow) << 7);
  firstRow = maxY;
  lastRow = minY - 1;
  widthPx = width;
  capPx = cap;
}

/** Returns x of a vertex in its own unit; y follows it. */
function vertexX(i: i32): f64 {
  return load<f64>(pointsAt + 16 * usize(i));
}

function vertexY(i: i32): f64 {
  return load<f64>(pointsAt + 16 * usize(i), 8);
}

/**
 * Returns whether a segment is covered in runs of a column: it is longer in the direction of x. Many lines of tiles run
 * exactly diagonally. They count as flat, or the last bits of their vertices would decide.
 */
function isFlat(from: i32, to: i32): bool {
  const along = abs(vertexX(to) - vertexX(from));
  return along >= (1 - diagonalTolerance) * abs(vertexY(to) - vertexY(from));
}

/** Returns the joint of a segment with another one. */
function jointOf(flat: bool, other: bool): i32 {
  return flat === other ? straight : turn;
}

/** Adds a line through vertices: `left + unitPx * x` is in pixels. Its ends are caps or cuts. */
export function addLine(vertices: i32, startsWithCap: bool, endsWithCap: bool, unitPx: f64, left: f64, top: f64): void {
  const last = vertices - 1;
  let x0 = left + unitPx * vertexX(0);
  let y0 = top + unitPx * vertexY(0);
  let from = startsWithCap ? end : turn;
  let flat = isFlat(0, 1);
  for (let i = 1; i <= last; i++) {
    const x1 = left + unitPx * vertexX(i);
    const y1 = top + unitPx * vertexY(i);
    const nextFlat = i < last ? isFlat(i, i + 1) : flat;
    const to = i < last ? jointOf(flat, nextFlat) : endsWithCap ? end : turn;
    addSegment(x0, y0, x1, y1, flat, from, to);
    from = jointOf(nextFlat, flat);
    flat = nextFlat;
    x0 = x1;
    y0 = y1;
  }
}

/** Adds a ring through vertices, like {@link addLine}. */
export function addRing(vertices: i32, unitPx: f64, left: f64, top: f64): void {
  const last = vertices - 1;
  let x0 = left + unitPx * vertexX(last);
  let y0 = top + unitPx * vertexY(last);
  let flat = isFlat(last, 0);
  let from = jointOf(flat, isFlat(max(0, last - 1), last));
  for (let i = 0; i <= last; i++) {
    const x1 = left + unitPx * vertexX(i);
    const y1 = top + unitPx * vertexY(i);
    const nextFlat = isFlat(i, i < last ? i + 1 : 0);
    const to = jointOf(flat, nextFlat);
    addSegment(x0, y0, x1, y1, flat, from, to);
    from = to;
    flat = nextFlat;
    x0 = x1;
    y0 = y1;
  }
}

function addSegment(x0: f64, y0: f64, x1: f64, y1: f64, flat: bool, from: i32, to: i32): void {
  if (!isNear(x0, y0, x1, y1)) return;
  const stride = wordsPerRow << 7;
  if (flat) {
    if (x0 < x1) addAlong(x0, y0, x1, y1, from, to, minX, maxX, minY, maxY, 1, stride);
    else if (x0 > x1) addAlong(x1, y1, x0, y0, to, from, minX, maxX, minY, maxY, 1, stride);
  } else if (y0 < y1) addAlong(y0, x0, y1, x1, from, to, minY, maxY, minX, maxX, stride, 1);
  else addAlong(y1, x1, y0, x0, to, from, minY, maxY, minX, maxX, stride, 1);
}

function isNear(x0: f64, y0: f64, x1: f64, y1: f64): bool {
  const margin = widthPx + capPx + 1;
  return (
    max(x0, x1) > f64(minX) - margin &&
    min(x0, x1) < f64(maxX) + margin &&
    max(y0, y1) > f64(minY) - margin &&
    min(y0, y1) < f64(maxY) + margin
  );
}

/**
 * Adds a segment. `u` is the axis along which it is longer, and `v` the other one. The limits are those of the area,
 * and the steps those of the mask.
 */
function addAlong(
  u0: f64,
  v0: f64,
  u1: f64,
  v1: f64,
  jointFrom: i32,
  jointTo: i32,
  minU: i32,
  maxU: i32,
  minV: i32,
  maxV: i32,
  stepU: i32,
  stepV: i32,
): void {
  const slope = (v1 - v0) / (u1 - u0);
  const stretch = sqrt(1 + slope * slope);
  const extent = widthPx * stretch;
  const cap = capPx / stretch;
  const from = jointFrom === end ? u0 - cap : u0;
  const to = jointTo === end ? u1 + cap : u1;
  const isFirst = jointFrom !== straight;
  const isLast = jointTo !== straight;
  // Limits are clipped before they become integers: vertices may be far away.
  let first = i32(max(f64(minU), isFirst ? floor(from) : ceil(from - 0.5)));
  let until = i32(min(f64(maxU), isLast ? ceil(to) : ceil(to - 0.5)));
  if (first >= until) return;
  const start = v0 - extent / 2 + slope * (0.5 - u0);
  const lowV = start + slope * f64(slope < 0 ? until - 1 : first);
  const highV = start + slope * f64(slope < 0 ? first : until - 1) + extent;
  if (highV <= f64(minV) || lowV >= f64(maxV)) return;
  const firstV = i32(max(f64(minV), floor(lowV)));
  const endV = i32(min(f64(maxV), floor(highV) + 1));
  if (stepU === 1) touch(first, until, firstV, endV);
  else touch(firstV, endV, first, until);
  const full = i32(256 * extent + 0.5);
  if (lowV < f64(minV) || highV + 1 >= f64(maxV)) {
    for (let u = first; u < until; u++) {
      const share = min(isLast ? to : Infinity, f64(u + 1)) - max(isFirst ? from : -Infinity, f64(u));
      addRun(u * stepU, start + slope * f64(u), full, min(1, share), minV, maxV, stepV);
    }
    return;
  }
  if (isFirst && f64(first) < from) {
    addRun(first * stepU, start + slope * f64(first), full, min(f64(first + 1), to) - from, minV, maxV, stepV);
    first++;
  }
  if (isLast && f64(until) > to && until > first) {
    until--;
    addRun(until * stepU, start + slope * f64(until), full, to - max(f64(until), from), minV, maxV, stepV);
  }
  for (let u = first; u < until; u++) addWhole(u * stepU, start + slope * f64(u), full, stepV);
}

/** Adds a run of up to three pixels inside the area. `full` is its length in 256ths. */
function addWhole(at: i32, v: f64, full: i32, stepV: i32): void {
  const pixel = i32(v);
  let address = origin + usize(at + pixel * stepV);
  const share = min(full, 256 - i32(256 * (v - f64(pixel))));
  const rest = full - share;
  cover(address, min(share, 255));
  address += usize(stepV);
  cover(address, min(rest, 255));
  if (rest > 256) cover(address + usize(stepV), rest > 511 ? 255 : rest - 256);
}

/** Adds one run of pixels: `full` is its length in 256ths, and `shareAlong` its share in the line's direction. */
function addRun(at: i32, v: f64, full: i32, shareAlong: f64, minV: i32, maxV: i32, stepV: i32): void {
  let pixel = i32(floor(v));
  let share = 256 - i32(floor(256 * (v - f64(pixel))));
  for (let rest = full; rest > 0; pixel++) {
    share = min(share, rest);
    rest -= share;
    const covered = i32(min(255, floor(f64(share) * shareAlong + 0.5)));
    if (pixel >= minV && pixel < maxV && covered > 0) cover(origin + usize(at + pixel * stepV), covered);
    share = 256;
  }
}

/** Notes that a pixel is covered by at least this share. */
function cover(address: usize, share: i32): void {
  if (share > i32(load<u8>(address))) store<u8>(address, u8(share));
}

/** Notes that pixels of a box have changed. */
function touch(left: i32, right: i32, top: i32, bottom: i32): void {
  if (left >= right || top >= bottom) return;
  firstRow = min(firstRow, top);
  lastRow = max(lastRow, bottom - 1);
  const firstBit = left >> 2;
  const lastBit = (right - 1) >> 2;
  for (let word = firstBit >> 5; word <= lastBit >> 5; word++) {
    const from: u32 = word === firstBit >> 5 ? -1 << (firstBit & 31) : -1;
    const until: u32 = word === lastBit >> 5 ? u32(-1) >>> u32(31 - (lastBit & 31)) : -1;
    const bits = from & until;
    for (let row = top - minY; row < bottom - minY; row++) {
      const at = touchedAt + 4 * usize(row * wordsPerRow + word);
      store<u32>(at, load<u32>(at) | bits);
    }
  }
}

/** Paints the lines that were added. */
export function fillLines(color: u32, opacity: i32): void {
  for (let row = firstRow; row <= lastRow; row++) {
    for (let word = 0; word < wordsPerRow; word++) {
      const at = touchedAt + 4 * usize((row - minY) * wordsPerRow + word);
      const bits = load<u32>(at);
      if (bits === 0) continue;
      store<u32>(at, 0);
      fillWord(row, word, bits, color, opacity);
    }
  }
}

function fillWord(row: i32, word: i32, touched: u32, color: u32, opacity: i32): void {
  const firstMask = origin + usize((row * wordsPerRow) << 7);
  const firstPixel = addressOf(0, row);
  for (let bits = touched; bits !== 0; bits &= bits - 1) {
    const column = ((word << 5) + i32(ctz(bits))) << 2;
    const shares = v128.load32_zero(firstMask + usize(column));
    if (!v128.any_true(shares)) continue;
    store<u32>(firstMask + usize(column), 0);
    const four = i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(shares));
    // From 0 to 255, to 0 to 256.
    const whole = i32x4.add(four, i32x4.shr_u(four, 7));
    const opacities = i32x4.shr_u(i32x4.mul(whole, i32x4.splat(opacity)), 8);
    paintFour(firstPixel + 4 * usize(column), color, opacities);
  }
}
