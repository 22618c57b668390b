/** Finds the boxes that overlap a box. Labels are small and often moved, so a grid is faster than a tree. Pure. */

import { overlaps } from '../../draw/tile-canvas.js';
import type { PixelBox } from '../../types.js';

/** About two rows of text. */
const cellPx = 32;

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Boxes by the cells of a grid over the image. Boxes that share an edge overlap. */
export class BoxGrid<Box extends PixelBox> {
  private readonly columns: number;
  private readonly rows: number;
  private readonly cells: (Box[] | undefined)[] = [];

  constructor({ width, height }: Size) {
    this.columns = Math.max(1, Math.ceil(width / cellPx));
    this.rows = Math.max(1, Math.ceil(height / cellPx));
  }

  insert(box: Box): void {
    this.someCell(box, (at) => {
      const cell = this.cells[at];
      if (cell) cell.push(box);
      else this.cells[at] = [box];
      return false;
    });
  }

  /** Removes this object, not boxes that are equal to it. */
  remove(box: Box): void {
    this.someCell(box, (at) => {
      const cell = this.cells[at] ?? [];
      const index = cell.indexOf(box);
      if (index >= 0) cell.splice(index, 1);
      return false;
    });
  }

  /** Returns whether a box that passes overlaps this one. */
  some(box: PixelBox, passes: (other: Box) => boolean): boolean {
    return this.someCell(box, (at) => {
      const cell = this.cells[at];
      if (cell) for (const other of cell) if (overlaps(box, other) && passes(other)) return true;
      return false;
    });
  }

  collides(box: PixelBox): boolean {
    return this.some(box, () => true);
  }

  /** Visits the cells that a box touches until one answers true. The outer cells also hold what is outside. */
  private someCell({ minX, minY, maxX, maxY }: PixelBox, visit: (at: number) => boolean): boolean {
    const [left, right] = [cellAt(minX, this.columns), cellAt(maxX, this.columns)];
    const [top, bottom] = [cellAt(minY, this.rows), cellAt(maxY, this.rows)];
    for (let row = top; row <= bottom; row++) {
      for (let column = left; column <= right; column++) if (visit(row * this.columns + column)) return true;
    }
    return false;
  }
}

const cellAt = (px: number, count: number): number => Math.max(0, Math.min(count - 1, Math.floor(px / cellPx)));
