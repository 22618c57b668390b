/** Fills areas, antialiased by the exact share of each pixel that they cover. `assembly/coverage.ts` does the work. */
import type { PixelBox } from '../types.js';
import type { Ink } from './ink.js';
import { type Painters, pointsOf } from './painters.js';
import { type Points, subpixels } from './points.js';

/** Fills areas of one bitmap. */
export class Coverage {
  /** Points of the ring that is added. */
  private readonly points: Float64Array;

  constructor(private readonly painters: Painters) {
    this.points = pointsOf(painters);
  }

  /**
   * Begins areas that lie in a box, in pixels. They change pixels of `area` only. Returns false if nothing of the box
   * is there.
   */
  begin(area: PixelBox, minX: number, minY: number, maxX: number, maxY: number): boolean {
    const left = Math.max(area.minX, Math.floor(minX));
    const top = Math.max(area.minY, Math.floor(minY));
    const columns = Math.min(area.maxX, Math.ceil(maxX) + 1) - left;
    const rows = Math.min(area.maxY, Math.ceil(maxY) + 1) - top;
    if (columns <= 0 || rows <= 0) return false;
    this.painters.beginAreas(left, top, columns, rows);
    return true;
  }

  /** Adds a ring. `winding` is 1, or −1 for one that winds the other way. */
  ring({ xy, length }: Points, winding: number): void {
    const { points } = this;
    let to = 0;
    for (let from = 0; from < length; from += 2) {
      if (to === points.length) to = this.addPart(winding);
      points[to++] = xy[from]!;
      points[to++] = xy[from + 1]!;
    }
    this.addLast(to, xy[0]!, xy[1]!, winding);
  }

  /** Adds a ring of vertices from `start` to `end`: `left + unitPx * xy[i]` is an x in pixels. */
  placedRing(
    xy: ArrayLike<number>,
    start: number,
    end: number,
    unitPx: number,
    left: number,
    top: number,
    winding: number,
  ): void {
    const { points } = this;
    const unit = unitPx * subpixels;
    const shiftX = left * subpixels + 0.5;
    const shiftY = top * subpixels + 0.5;
    let to = 0;
    for (let from = start; from < end; from += 2) {
      if (to === points.length) to = this.addPart(winding);
      points[to++] = Math.floor(shiftX + unit * xy[from]!);
      points[to++] = Math.floor(shiftY + unit * xy[from + 1]!);
    }
    this.addLast(to, Math.floor(shiftX + unit * xy[start]!), Math.floor(shiftY + unit * xy[start + 1]!), winding);
  }

  /** Closes a ring with its first point. */
  private addLast(to: number, firstX: number, firstY: number, winding: number): void {
    const { points } = this;
    const at = to === points.length ? this.addPart(winding) : to;
    points[at] = firstX;
    points[at + 1] = firstY;
    this.painters.addEdges(at / 2 + 1, winding);
  }

  /** Adds the edges so far. The last point begins the next part: returns where its second one is written. */
  private addPart(winding: number): number {
    const { points } = this;
    this.painters.addEdges(points.length / 2, winding);
    points.copyWithin(0, points.length - 2);
    return 2;
  }

  /** Paints the areas that were added. Where they overlap they count once. */
  fill({ word, opacity }: Ink): void {
    this.painters.fillAreas(word, opacity);
  }
}
