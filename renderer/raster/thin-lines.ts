/**
 * Paints lines that are hardly wider than a pixel. They are most of a map's edges, and outlines of areas all have one
 * pixel.
 *
 * A line covers a short run of pixels in each column, or in each row where it is steep. How much of a pixel is covered
 * is noted in a mask, which is painted at the end: lines that overlap cover a pixel once. Pure.
 */

import { blended, type Ink, noPicture, type Picture } from './picture.js';

/** Lines up to this width are thin: runs have at most three pixels. Device pixels. */
export const maxThinPx = 1.4;

/**
 * How a segment ends. `straight`: the next segment has the same axis. Each pixel along it belongs to the segment that
 * has its middle. `turn`: the next segment has the other axis. Pixels are covered as far as this one reaches into them.
 * `end`: the line ends with a cap.
 */
type Joint = 'straight' | 'turn' | 'end';

/** Share by which a diagonal segment may be steeper than 45 degrees. */
const diagonalTolerance = 1e-6;

/**
 * Returns whether a segment is covered in runs of a column: it is longer in the direction of x. Many lines of tiles run
 * exactly diagonally. They count as flat, or the last bits of their vertices would decide.
 */
const isFlat = (xy: ArrayLike<number>, from: number, to: number): boolean =>
  Math.abs(xy[to]! - xy[from]!) >= (1 - diagonalTolerance) * Math.abs(xy[to + 1]! - xy[from + 1]!);

export class ThinLines {
  private picture = noPicture;
  /** Covered shares of pixels in the rows of the area, 0 to 255. All are 0 between two paintings. */
  private mask = new Uint8Array(0);
  /** The mask by four pixels. */
  private quads = new Int32Array(0);
  /** A bit for each four pixels of a row. */
  private touched = new Int32Array(0);
  private wordsPerRow = 0;
  /** Bytes of the rows above the area: the mask begins below them. */
  private firstByte = 0;
  private firstRow = 0;
  private lastRow = -1;
  private widthPx = 0;
  private capPx = 0;

  /** Begins lines of a width in pixels. `capPx` is how far caps reach beyond the ends. */
  begin(picture: Picture, widthPx: number, capPx: number): void {
    this.picture = picture;
    this.widthPx = widthPx;
    this.capPx = capPx;
    this.wordsPerRow = Math.ceil(picture.width / 128);
    this.firstByte = (picture.area.minY * this.wordsPerRow) << 7;
    const words = this.wordsPerRow * (picture.area.maxY - picture.area.minY);
    if (words > this.touched.length) {
      this.touched = new Int32Array(words);
      this.mask = new Uint8Array(128 * words);
      this.quads = new Int32Array(this.mask.buffer);
    }
    this.firstRow = picture.area.maxY;
    this.lastRow = picture.area.minY - 1;
  }

  /** Adds a line through vertices from `start` to `end`, or a ring: `left + unitPx * xy[i]` is an x in pixels. */
  line(
    xy: ArrayLike<number>,
    start: number,
    end: number,
    isRing: boolean,
    unitPx: number,
    left: number,
    top: number,
  ): void {
    const before = isRing ? end - 2 : start;
    let x0 = left + unitPx * xy[before]!;
    let y0 = top + unitPx * xy[before + 1]!;
    /** Whether the segment before is flat, and the first one. */
    let wasFlat = isFlat(xy, Math.max(start, end - 4), before);
    let startsFlat = wasFlat;
    let from: Joint = isRing ? 'straight' : 'end';
    for (let i = isRing ? start : start + 2; i < end; i += 2) {
      const x1 = left + unitPx * xy[i]!;
      const y1 = top + unitPx * xy[i + 1]!;
      const flat = isFlat(xy, i === start ? before : i - 2, i);
      if (from !== 'end') from = flat === wasFlat ? 'straight' : 'turn';
      if (i === start) startsFlat = flat;
      let to: Joint = 'straight';
      if (i < end - 2) to = flat === isFlat(xy, i, i + 2) ? 'straight' : 'turn';
      else if (!isRing) to = 'end';
      else if (flat !== startsFlat) to = 'turn';
      if (this.isNear(x0, y0, x1, y1)) this.segment(x0, y0, x1, y1, flat, from, to);
      from = 'straight';
      wasFlat = flat;
      x0 = x1;
      y0 = y1;
    }
  }

  private isNear(x0: number, y0: number, x1: number, y1: number): boolean {
    const { minX, minY, maxX, maxY } = this.picture.area;
    const margin = this.widthPx + this.capPx + 1;
    return (
      (x0 > minX - margin || x1 > minX - margin) &&
      (x0 < maxX + margin || x1 < maxX + margin) &&
      (y0 > minY - margin || y1 > minY - margin) &&
      (y0 < maxY + margin || y1 < maxY + margin)
    );
  }

  private segment(x0: number, y0: number, x1: number, y1: number, flat: boolean, from: Joint, to: Joint): void {
    const { minX, minY, maxX, maxY } = this.picture.area;
    const stride = this.wordsPerRow << 7;
    if (flat) {
      if (x0 < x1) this.along(x0, y0, x1, y1, from, to, minX, maxX, minY, maxY, 1, stride);
      else if (x0 > x1) this.along(x1, y1, x0, y0, to, from, minX, maxX, minY, maxY, 1, stride);
    } else if (y0 < y1) this.along(y0, x0, y1, x1, from, to, minY, maxY, minX, maxX, stride, 1);
    else this.along(y1, x1, y0, x0, to, from, minY, maxY, minX, maxX, stride, 1);
  }

  /**
   * Adds a segment. `u` is the axis along which it is longer, and `v` the other one. The limits are those of the area,
   * and the steps those of the mask.
   */
  private along(
    u0: number,
    v0: number,
    u1: number,
    v1: number,
    jointFrom: Joint,
    jointTo: Joint,
    minU: number,
    maxU: number,
    minV: number,
    maxV: number,
    stepU: number,
    stepV: number,
  ): void {
    const { mask, firstByte } = this;
    const slope = (v1 - v0) / (u1 - u0);
    const stretch = Math.sqrt(1 + slope * slope);
    const extent = this.widthPx * stretch;
    const cap = this.capPx / stretch;
    const from = jointFrom === 'end' ? u0 - cap : u0;
    const to = jointTo === 'end' ? u1 + cap : u1;
    const isFirst = jointFrom !== 'straight';
    const isLast = jointTo !== 'straight';
    let first = Math.max(minU, isFirst ? Math.floor(from) : Math.ceil(from - 0.5));
    let end = Math.min(maxU, isLast ? Math.ceil(to) : Math.ceil(to - 0.5));
    if (first >= end) return;
    const start = v0 - extent / 2 + slope * (0.5 - u0);
    const lowV = start + slope * (slope < 0 ? end - 1 : first);
    const highV = start + slope * (slope < 0 ? first : end - 1) + extent;
    if (highV <= minV || lowV >= maxV) return;
    const firstV = Math.max(minV, Math.floor(lowV));
    const endV = Math.min(maxV, Math.floor(highV) + 1);
    if (stepU === 1) this.touch(first, end, firstV, endV);
    else this.touch(firstV, endV, first, end);
    const isInside = lowV >= minV && highV + 1 < maxV;
    const full = (256 * extent + 0.5) | 0;
    if (!isInside) {
      for (let u = first; u < end; u++) {
        const share = Math.min(isLast ? to : Infinity, u + 1) - Math.max(isFirst ? from : -Infinity, u);
        this.run(u * stepU, start + slope * u, full, Math.min(1, share), minV, maxV, stepV);
      }
      return;
    }
    if (isFirst && first < from) {
      this.run(first * stepU, start + slope * first, full, Math.min(first + 1, to) - from, minV, maxV, stepV);
      first++;
    }
    if (isLast && end > to && end > first) {
      end--;
      this.run(end * stepU, start + slope * end, full, to - Math.max(end, from), minV, maxV, stepV);
    }
    for (let u = first; u < end; u++) {
      const v = start + slope * u;
      const pixel = v | 0;
      let at = u * stepU + pixel * stepV - firstByte;
      let share = 256 - ((256 * (v - pixel)) | 0);
      let rest = full;
      if (share > rest) share = rest;
      rest -= share;
      if (share > mask[at]!) mask[at] = Math.min(share, 255);
      at += stepV;
      share = Math.min(rest, 255);
      if (share > mask[at]!) mask[at] = share;
      if (rest > 256) {
        at += stepV;
        share = rest > 511 ? 255 : rest - 256;
        if (share > mask[at]!) mask[at] = share;
      }
    }
  }

  /** Adds one run of pixels: `full` is its length in 256ths, and `shareAlong` its share in the line's direction. */
  private run(
    at: number,
    v: number,
    full: number,
    shareAlong: number,
    minV: number,
    maxV: number,
    stepV: number,
  ): void {
    const { mask, firstByte } = this;
    let pixel = Math.floor(v);
    let share = 256 - Math.floor(256 * (v - pixel));
    for (let rest = full; rest > 0; pixel++) {
      share = Math.min(share, rest);
      rest -= share;
      const covered = Math.min(255, Math.round(share * shareAlong));
      const i = at + pixel * stepV - firstByte;
      if (pixel >= minV && pixel < maxV && covered > mask[i]!) mask[i] = covered;
      share = 256;
    }
  }

  /** Notes that pixels of a box have changed. */
  private touch(left: number, right: number, top: number, bottom: number): void {
    if (left >= right || top >= bottom) return;
    const { touched, wordsPerRow } = this;
    const { minY } = this.picture.area;
    if (top < this.firstRow) this.firstRow = top;
    if (bottom > this.lastRow + 1) this.lastRow = bottom - 1;
    const firstBit = left >> 2;
    const lastBit = (right - 1) >> 2;
    for (let word = firstBit >> 5; word <= lastBit >> 5; word++) {
      const from = word === firstBit >> 5 ? -1 << (firstBit & 31) : -1;
      const until = word === lastBit >> 5 ? -1 >>> (31 - (lastBit & 31)) : -1;
      const bits = from & until;
      for (let row = top - minY, i = row * wordsPerRow + word; row < bottom - minY; row++, i += wordsPerRow) {
        touched[i] = touched[i]! | bits;
      }
    }
  }

  /** Paints the lines that were added. */
  fill({ word, opacity }: Ink): void {
    const { touched, wordsPerRow } = this;
    const { minY } = this.picture.area;
    for (let row = this.firstRow; row <= this.lastRow; row++) {
      const firstWord = (row - minY) * wordsPerRow;
      for (let w = 0; w < wordsPerRow; w++) {
        const bits = touched[firstWord + w]!;
        if (bits === 0) continue;
        touched[firstWord + w] = 0;
        this.fillWord(row, w, bits, word, opacity);
      }
    }
    // The picture must not stay in memory.
    this.picture = noPicture;
  }

  private fillWord(row: number, w: number, touched: number, word: number, opacity: number): void {
    const { quads, wordsPerRow } = this;
    const { pixels, width, area } = this.picture;
    const { minY } = area;
    for (let bits = touched; bits !== 0; bits &= bits - 1) {
      const column = ((w << 5) + 31 - Math.clz32(bits & -bits)) << 2;
      const at = (((row - minY) * wordsPerRow) << 5) + (column >> 2);
      let quad = quads[at]!;
      quads[at] = 0;
      for (let i = row * width + column; quad !== 0; i++) {
        pixels[i] = blended(pixels[i]!, word, weighted(quad & 255, opacity));
        quad >>>= 8;
      }
    }
  }
}

/** Returns an opacity of 0 to 256 from a share of 0 to 255. */
function weighted(share: number, opacity: number): number {
  return Math.imul(share + (share >> 7), opacity) >> 8;
}
