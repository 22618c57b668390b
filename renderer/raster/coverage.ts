/**
 * Fills areas, antialiased by the exact share of each pixel that they cover.
 *
 * Each edge of an area adds to the pixels that it crosses how the covered share changes there, from left to right. The
 * sum along a row is the covered share, so only pixels with edges are added up. Sums are integers: edges that
 * neighbouring areas share cancel out exactly. Pure.
 */

import { blended, type Ink, noPicture, type Picture, paintRun } from './picture.js';
import { type Points, subpixelBits, subpixels } from './points.js';

/** The sum of a covered pixel is 2 to this power: its height, times twice its width. */
const wholeBits = 2 * subpixelBits + 1;
const whole = 2 ** wholeBits;
/** Shift from sums to shares of 0 to 256. */
const shareBits = wholeBits - 8;
/** Shift from columns to twice their subpixels. */
const doubleBits = subpixelBits + 1;

/** Coordinates beyond these subpixels, up or down, are computed as fractions. */
const maxInteger = 2 ** 30;

export class Coverage {
  private picture = noPicture;
  /** Changes of the covered share. All are 0 between two fillings. */
  private sums = new Int32Array(2 ** 12);
  /** A bit for each pixel whose share changes. */
  private touched = new Int32Array(2 ** 7);
  private wordsPerRow = 0;
  /** The window: the part of the picture that the areas may touch. Whole pixels. */
  private left = 0;
  private top = 0;
  private columns = 0;
  private rows = 0;
  /** Rows of the window with edges. */
  private firstRow = 0;
  private lastRow = -1;

  /**
   * Begins areas that lie in a box, in pixels. Returns false if nothing of it is in the picture's area. Memory grows to
   * 4 bytes for each pixel of the box in the area, and is kept.
   */
  begin(picture: Picture, minX: number, minY: number, maxX: number, maxY: number): boolean {
    const { area } = picture;
    this.left = Math.max(area.minX, Math.floor(minX));
    this.top = Math.max(area.minY, Math.floor(minY));
    this.columns = Math.min(area.maxX, Math.ceil(maxX) + 1) - this.left;
    this.rows = Math.min(area.maxY, Math.ceil(maxY) + 1) - this.top;
    if (this.columns <= 0 || this.rows <= 0) return false;
    this.picture = picture;
    // An edge at the right end touches two more columns.
    this.wordsPerRow = (this.columns + 2 + 31) >> 5;
    const words = this.wordsPerRow * this.rows;
    if (words > this.touched.length) {
      this.sums = new Int32Array(32 * words);
      this.touched = new Int32Array(words);
    }
    this.firstRow = this.rows;
    this.lastRow = -1;
    return true;
  }

  /** Adds a ring. `winding` is 1, or −1 for one that winds the other way. */
  ring({ xy, length }: Points, winding: number): void {
    const shiftX = this.left * subpixels;
    const shiftY = this.top * subpixels;
    const right = this.columns << subpixelBits;
    const bottom = this.rows << subpixelBits;
    let lastX = xy[length - 2]! - shiftX;
    let lastY = xy[length - 1]! - shiftY;
    for (let i = 0; i < length; i += 2) {
      const thisX = xy[i]! - shiftX;
      const thisY = xy[i + 1]! - shiftY;
      const isDown = lastY < thisY;
      const x0 = isDown ? lastX : thisX;
      const y0 = isDown ? lastY : thisY;
      const x1 = isDown ? thisX : lastX;
      const y1 = isDown ? thisY : lastY;
      lastX = thisX;
      lastY = thisY;
      if (y0 === y1 || y1 <= 0 || y0 >= bottom || (x0 >= right && x1 >= right)) continue;
      this.edge(x0, y0, x1, y1, isDown ? winding : -winding, right, bottom);
    }
  }

  /** Adds an edge from top to bottom, in subpixels of the window. */
  private edge(x0: number, y0: number, x1: number, y1: number, sign: number, right: number, bottom: number): void {
    const from = y0 > 0 ? y0 | 0 : 0;
    const to = y1 < bottom ? y1 | 0 : bottom;
    const row = from >> subpixelBits;
    const last = (to - 1) >> subpixelBits;
    if (row < this.firstRow) this.firstRow = row;
    if (last > this.lastRow) this.lastRow = last;
    if (x0 <= 0 && x1 <= 0) this.upright(0, from, to, sign);
    else if (x0 < 0 || x1 < 0 || x0 > right || x1 > right) this.across(x0, y0, x1, y1, from, to, sign, right);
    else if (x0 === x1) this.upright(x0 | 0, from, to, sign);
    else if (y0 > -maxInteger && y1 < maxInteger) this.slanted(x0 | 0, y0 | 0, x1 | 0, y1 | 0, from, to, sign);
    else this.across(x0, y0, x1, y1, from, to, sign, right);
  }

  private upright(x: number, from: number, to: number, sign: number): void {
    const { sums, touched, wordsPerRow } = this;
    const column = x >> subpixelBits;
    const right = (x & (subpixels - 1)) << 1;
    const bits = 3 << (column & 31);
    const isSplit = (column & 31) === 31;
    let row = from >> subpixelBits;
    let word = row * wordsPerRow + (column >> 5);
    let at = ((row * wordsPerRow) << 5) + column;
    let y = from;
    while (y < to) {
      row++;
      const end = Math.min(to, row << subpixelBits);
      const height = Math.imul(end - y, sign);
      const after = Math.imul(height, right);
      sums[at] = sums[at]! + (height << doubleBits) - after;
      sums[at + 1] = sums[at + 1]! + after;
      touched[word] = touched[word]! | bits;
      if (isSplit) touched[word + 1] = touched[word + 1]! | 1;
      at += wordsPerRow << 5;
      word += wordsPerRow;
      y = end;
    }
  }

  /** Adds an edge inside the window from left to right. */
  private slanted(x0: number, y0: number, x1: number, y1: number, from: number, to: number, sign: number): void {
    const { sums, touched, wordsPerRow } = this;
    const slope = (x1 - x0) / (y1 - y0);
    const rise = Math.abs(1 / slope);
    const origin = x0 - slope * y0 + 0.5;
    let row = from >> subpixelBits;
    let x = from === y0 ? x0 : (origin + slope * from) | 0;
    let y = from;
    while (y < to) {
      const end = Math.min(to, (row + 1) << subpixelBits);
      const endX = end === y1 ? x1 : (origin + slope * end) | 0;
      const low = slope > 0 ? x : endX;
      const high = slope > 0 ? endX : x;
      const column = low >> subpixelBits;
      const more = (high >> subpixelBits) - column;
      const at = ((row * wordsPerRow) << 5) + column;
      const height = Math.imul(end - y, sign);
      if (more === 0) {
        const after = Math.imul(height, low + high - (column << doubleBits));
        sums[at] = sums[at]! + (height << doubleBits) - after;
        sums[at + 1] = sums[at + 1]! + after;
      } else if (more === 1) {
        const border = (column + 1) << subpixelBits;
        const part = Math.imul((rise * (border - low) + 0.5) | 0, sign);
        const rest = height - part;
        const after = Math.imul(part, low + border - (column << doubleBits));
        const restAfter = Math.imul(rest, high - border);
        sums[at] = sums[at]! + (part << doubleBits) - after;
        sums[at + 1] = sums[at + 1]! + after + (rest << doubleBits) - restAfter;
        sums[at + 2] = sums[at + 2]! + restAfter;
      } else this.flat(row, low, high, end - y, rise, sign);
      const bit = column & 31;
      const word = row * wordsPerRow + (column >> 5);
      if (bit + more < 30) touched[word] = touched[word]! | (((1 << (more + 2)) - 1) << bit);
      else this.touch(row, column, column + more + 2);
      x = endX;
      y = end;
      row++;
    }
  }

  /** Adds a part of an edge inside one row and the window, which crosses several pixels. */
  private flat(row: number, low: number, high: number, height: number, rise: number, sign: number): void {
    const { sums } = this;
    let column = low >> subpixelBits;
    let at = ((row * this.wordsPerRow) << 5) + column;
    let x = low;
    let done = 0;
    while (x < high) {
      const border = (column + 1) << subpixelBits;
      const end = Math.min(border, high);
      const until = end === high ? height : (rise * (end - low) + 0.5) | 0;
      const part = Math.imul(until - done, sign);
      const after = Math.imul(part, x + end - (column << doubleBits));
      sums[at] = sums[at]! + (part << doubleBits) - after;
      sums[at + 1] = sums[at + 1]! + after;
      done = until;
      x = end;
      column++;
      at++;
    }
  }

  /** Adds an edge that leaves the window at the left or right. */
  private across(
    x0: number,
    y0: number,
    x1: number,
    y1: number,
    from: number,
    to: number,
    sign: number,
    right: number,
  ): void {
    const slope = (x1 - x0) / (y1 - y0);
    const rise = Math.abs(1 / slope);
    const origin = x0 - slope * y0 + 0.5;
    let x = from === y0 ? x0 : Math.floor(origin + slope * from);
    for (let y = from; y < to; ) {
      const row = y >> subpixelBits;
      const end = Math.min(to, (row + 1) << subpixelBits);
      const endX = end === y1 ? x1 : Math.floor(origin + slope * end);
      this.acrossRow(row, Math.min(x, endX), Math.max(x, endX), end - y, rise, sign, right);
      x = endX;
      y = end;
    }
  }

  private acrossRow(
    row: number,
    low: number,
    high: number,
    height: number,
    rise: number,
    sign: number,
    right: number,
  ): void {
    if (low >= right) return;
    const outside = high <= 0 ? height : Math.min(height, Math.max(0, Math.floor(rise * -low + 0.5)));
    const y = row << subpixelBits;
    if (outside > 0) this.upright(0, y, y + outside, sign);
    if (high <= 0) return;
    if (low === high) {
      this.upright(low, y, y + height, sign);
      return;
    }
    const { sums } = this;
    const first = Math.max(0, low) >> subpixelBits;
    let column = first;
    let x = Math.max(0, low);
    let done = outside;
    while (x < high && x < right) {
      const end = Math.min(high, (column + 1) << subpixelBits);
      const until = end === high ? height : Math.min(height, Math.floor(rise * (end - low) + 0.5));
      const part = (until - done) * sign;
      const after = part * (x + end - (column << doubleBits));
      const at = ((row * this.wordsPerRow) << 5) + column;
      sums[at]! += (part << doubleBits) - after;
      sums[at + 1]! += after;
      done = until;
      x = end;
      column++;
    }
    this.touch(row, first, column + 1);
  }

  private touch(row: number, from: number, to: number): void {
    for (let column = from; column < to; column++) {
      this.touched[row * this.wordsPerRow + (column >> 5)]! |= 1 << (column & 31);
    }
  }

  /** Paints the areas that were added. Where they overlap they count once. */
  fill(ink: Ink): void {
    for (let row = this.firstRow; row <= this.lastRow; row++) this.fillRow(row, ink.word, ink.opacity);
    // The picture must not stay in memory.
    this.picture = noPicture;
  }

  private fillRow(row: number, word: number, opacity: number): void {
    const { touched, wordsPerRow, sums, columns } = this;
    const { pixels, width } = this.picture;
    const pixelsStart = (this.top + row) * width + this.left;
    const firstWord = row * wordsPerRow;
    let sum = 0;
    let share = 0;
    let x = 0;
    for (let i = firstWord; i < firstWord + wordsPerRow; i++) {
      let bits = touched[i]!;
      if (bits === 0) continue;
      touched[i] = 0;
      const wordStart = (i - firstWord) << 5;
      do {
        const column = wordStart + 31 - Math.clz32(bits & -bits);
        bits &= bits - 1;
        const at = (firstWord << 5) + column;
        const change = sums[at]!;
        sums[at] = 0;
        if (column >= columns) continue;
        if (share !== 0) {
          const from = pixelsStart + x;
          if (column === x + 1) pixels[from] = blended(pixels[from]!, word, share);
          else paintRun(pixels, from, pixelsStart + column, word, share);
        }
        x = column;
        sum += change;
        share = shareOf(sum, opacity);
      } while (bits !== 0);
    }
    if (share !== 0) paintRun(pixels, pixelsStart + x, pixelsStart + columns, word, share);
  }
}

/** Returns the opacity of 0 to 256 in a pixel with this sum. */
function shareOf(sum: number, opacity: number): number {
  const size = sum < 0 ? -sum : sum;
  return size >= whole ? opacity : Math.imul((size + (1 << (shareBits - 1))) >> shareBits, opacity) >> 8;
}
