/** Paints lines that are hardly wider than a pixel. `assembly/thin-lines.ts` does the work. */
import type { PixelBox } from '../types.js';
import type { Ink } from './ink.js';
import { type Painters, pointsOf } from './painters.js';

/** Lines up to this width are thin: they cover at most three pixels across. Device pixels. */
export const maxThinPx = 1.4;

/** Paints thin lines on one bitmap. */
export class ThinLines {
  /** Vertices of the line that is added. */
  private readonly points: Float64Array;

  constructor(private readonly painters: Painters) {
    this.points = pointsOf(painters);
  }

  /** Begins lines of a width in pixels, which change an area only. `capPx` is how far caps reach beyond the ends. */
  begin({ minX, minY, maxX, maxY }: PixelBox, widthPx: number, capPx: number): void {
    this.painters.beginLines(minX, minY, maxX, maxY, widthPx, capPx);
  }

  /**
   * Adds a line through vertices from `start` to `end`, or a ring: `left + unitPx * xy[i]` is an x in pixels. One of
   * more than 16,384 vertices is cut into lines without caps, which may leave the pixel of a cut half as covered.
   */
  line(
    xy: ArrayLike<number>,
    start: number,
    end: number,
    isRing: boolean,
    unitPx: number,
    left: number,
    top: number,
  ): void {
    const { points, painters } = this;
    const fits = end - start <= points.length;
    let to = 0;
    let startsWithCap = !isRing;
    for (let from = start; from < end; from += 2) {
      if (to === points.length) {
        painters.addLine(to / 2, startsWithCap, false, unitPx, left, top);
        points.copyWithin(0, to - 2);
        to = 2;
        startsWithCap = false;
      }
      points[to++] = xy[from]!;
      points[to++] = xy[from + 1]!;
    }
    if (!isRing) painters.addLine(to / 2, startsWithCap, true, unitPx, left, top);
    else if (fits) painters.addRing(to / 2, unitPx, left, top);
    else {
      painters.addLine(to / 2, false, false, unitPx, left, top);
      points.set([xy[end - 2]!, xy[end - 1]!, xy[start]!, xy[start + 1]!]);
      painters.addLine(2, false, false, unitPx, left, top);
    }
  }

  /** Paints the lines that were added. Where they overlap they count once. */
  fill({ word, opacity }: Ink): void {
    this.painters.fillLines(word, opacity);
  }
}
