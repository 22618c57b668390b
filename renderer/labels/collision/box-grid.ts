/** Finds the boxes that overlap a box. Labels are small and often moved, so a grid is faster than a tree. Pure. */
import type { PixelBox } from '../../types.js';
import { evenPadding, type Padding } from './boxes.js';

/** About two rows of text. */
const cellPx = 32;

const noPadding = evenPadding(0);

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

  /** Adds a box to every cell that it touches. */
  insert(box: Box): void {
    const { left, right, top, bottom } = this.cellsOf(box);
    for (let row = top; row <= bottom; row++) {
      for (let at = row * this.columns + left; at <= row * this.columns + right; at++) {
        const cell = this.cells[at];
        if (cell) cell.push(box);
        else this.cells[at] = [box];
      }
    }
  }

  /** Removes this object, not boxes that are equal to it. */
  remove(box: Box): void {
    const { left, right, top, bottom } = this.cellsOf(box);
    for (let row = top; row <= bottom; row++) {
      for (let at = row * this.columns + left; at <= row * this.columns + right; at++) {
        const cell = this.cells[at] ?? [];
        const index = cell.indexOf(box);
        if (index >= 0) cell.splice(index, 1);
      }
    }
  }

  /** Returns whether a box that passes overlaps this one with its padding. */
  some(
    { minX, minY, maxX, maxY }: PixelBox,
    passes: (other: Box) => boolean,
    { top, right, bottom, left }: Padding = noPadding,
  ): boolean {
    return this.overlapping(minX - left, minY - top, maxX + right, maxY + bottom, passes);
  }

  /** Returns whether a box overlaps this one with its padding. */
  collides({ minX, minY, maxX, maxY }: PixelBox, { top, right, bottom, left }: Padding = noPadding): boolean {
    return this.overlapping(minX - left, minY - top, maxX + right, maxY + bottom, null);
  }

  /** A map asks this some 100,000 times, so nothing is created here. */
  private overlapping(
    minX: number,
    minY: number,
    maxX: number,
    maxY: number,
    passes: ((other: Box) => boolean) | null,
  ): boolean {
    const [left, right] = [cellAt(minX, this.columns), cellAt(maxX, this.columns)];
    const [top, bottom] = [cellAt(minY, this.rows), cellAt(maxY, this.rows)];
    for (let row = top; row <= bottom; row++) {
      for (let at = row * this.columns + left; at <= row * this.columns + right; at++) {
        const cell = this.cells[at];
        if (!cell) continue;
        for (let i = 0; i < cell.length; i++) {
          const other = cell[i]!;
          const overlaps = other.minX <= maxX && minX <= other.maxX && other.minY <= maxY && minY <= other.maxY;
          if (overlaps && (passes === null || passes(other))) return true;
        }
      }
    }
    return false;
  }

  /** Returns the cells that a box touches. The outer cells also hold what is outside. */
  private cellsOf({ minX, minY, maxX, maxY }: PixelBox) {
    return {
      left: cellAt(minX, this.columns),
      right: cellAt(maxX, this.columns),
      top: cellAt(minY, this.rows),
      bottom: cellAt(maxY, this.rows),
    };
  }
}

const cellAt = (px: number, count: number): number => Math.max(0, Math.min(count - 1, Math.floor(px / cellPx)));
