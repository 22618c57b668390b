/** Turns lines with a width into areas. Pure. */
import type { Coverage } from './coverage.js';
import type { Ink } from './ink.js';
import type { Picture } from './picture.js';
import { Points } from './points.js';

/** Lengths in device pixels. */
export interface StrokeStyle {
  readonly widthPx: number;
  readonly cap: 'butt' | 'round' | 'square';
  readonly join: 'bevel' | 'round' | 'miter';
  readonly miterLimit: number;
}

/** Largest distance of a drawn arc or corner from the exact one. Device pixels. */
const tolerancePx = 0.06;
/** Maximum number of steps of half a circle. Styles set widths of any size. */
const maxSteps = 256;
/** Shorter segments are left out: they have no direction. Device pixels. */
const minSegmentPx = 1e-3;

const left = new Points();
const right = new Points();

/** Draws lines of one style. Each vertex has two points of the outline or more: left and right of the line. */
export class Stroker {
  private readonly radius: number;
  /** How far corners reach from their vertex. */
  private readonly reach: number;
  /** Cosine of a turn from which a corner is drawn with one point at its outer side. */
  private readonly pointed: number;
  /** Steps of half a circle, and the turn of one step. */
  private readonly steps: number;
  private readonly stepCosine: number;
  private readonly stepSine: number;
  private minX = 0;
  private minY = 0;
  private maxX = 0;
  private maxY = 0;

  constructor(private readonly style: StrokeStyle) {
    const { widthPx, join, miterLimit } = style;
    this.radius = widthPx / 2;
    const isMiter = join === 'miter';
    this.reach = this.radius * Math.max(Math.SQRT2, isMiter ? miterLimit : 1);
    const nearlyStraight = 2 / (1 + tolerancePx / this.radius) ** 2 - 1;
    this.pointed = isMiter ? Math.min(nearlyStraight, 2 / miterLimit ** 2 - 1) : nearlyStraight;
    const step = 2 * Math.acos(Math.max(0, 1 - tolerancePx / this.radius));
    this.steps = Math.min(maxSteps, Math.ceil(Math.PI / step));
    this.stepCosine = Math.cos(Math.PI / this.steps);
    this.stepSine = Math.sin(Math.PI / this.steps);
  }

  /**
   * Outlines a line through vertices from `start` to `end`, or a ring: `originX + unitPx * xy[i]` is an x in pixels.
   * Returns false if there is nothing to draw.
   */
  outline(
    xy: ArrayLike<number>,
    start: number,
    end: number,
    isRing: boolean,
    unitPx: number,
    originX: number,
    originY: number,
  ): boolean {
    left.length = 0;
    right.length = 0;
    this.minX = this.minY = Infinity;
    this.maxX = this.maxY = -Infinity;
    const firstX = originX + unitPx * xy[start]!;
    const firstY = originY + unitPx * xy[start + 1]!;
    let x = firstX;
    let y = firstY;
    /** Unit normals to the left, and lengths, of the first and the last segment. */
    let [startX, startY, startLength] = [0, 0, 0];
    let [beforeX, beforeY, beforeLength] = [0, 0, 0];
    const last = isRing ? end : end - 2;
    for (let i = start + 2; i <= last; i += 2) {
      const nextX = i === end ? firstX : originX + unitPx * xy[i]!;
      const nextY = i === end ? firstY : originY + unitPx * xy[i + 1]!;
      const length = Math.sqrt((nextX - x) * (nextX - x) + (nextY - y) * (nextY - y));
      if (length < minSegmentPx) continue;
      const normalX = (nextY - y) / length;
      const normalY = (x - nextX) / length;
      this.extend(x, y);
      if (beforeLength > 0) this.corner(x, y, beforeX, beforeY, beforeLength, normalX, normalY, length);
      else {
        startX = normalX;
        startY = normalY;
        startLength = length;
        if (!isRing) this.cap(x, y, -normalX, -normalY);
      }
      beforeX = normalX;
      beforeY = normalY;
      beforeLength = length;
      x = nextX;
      y = nextY;
    }
    if (beforeLength === 0) return false;
    this.extend(x, y);
    if (isRing) this.corner(x, y, beforeX, beforeY, beforeLength, startX, startY, startLength);
    else this.cap(x, y, beforeX, beforeY);
    return true;
  }

  /** Adds what was outlined to a coverage that has begun. */
  addTo(coverage: Coverage, isRing: boolean): void {
    if (isRing) coverage.ring(right, -1);
    else left.addReversed(right);
    coverage.ring(left, 1);
  }

  /** Paints what was outlined. */
  paint(picture: Picture, isRing: boolean, ink: Ink): void {
    const { reach } = this;
    const { coverage } = picture.bitmap;
    if (coverage.begin(picture.area, this.minX - reach, this.minY - reach, this.maxX + reach, this.maxY + reach)) {
      this.addTo(coverage, isRing);
      coverage.fill(ink);
    }
  }

  private extend(x: number, y: number): void {
    if (x < this.minX) this.minX = x;
    if (x > this.maxX) this.maxX = x;
    if (y < this.minY) this.minY = y;
    if (y > this.maxY) this.maxY = y;
  }

  /** Ends a line, clockwise from one side to the other. The normal points to the first of them. */
  private cap(x: number, y: number, normalX: number, normalY: number): void {
    const r = this.radius;
    const ahead = this.style.cap === 'square' ? r : 0;
    const [aheadX, aheadY] = [-ahead * normalY, ahead * normalX];
    left.add(x + r * normalX + aheadX, y + r * normalY + aheadY);
    if (this.style.cap === 'round') this.arc(left, x, y, r * normalX, r * normalY, -r * normalX, -r * normalY, 1);
    left.add(x - r * normalX + aheadX, y - r * normalY + aheadY);
  }

  private corner(
    x: number,
    y: number,
    beforeX: number,
    beforeY: number,
    beforeLength: number,
    afterX: number,
    afterY: number,
    afterLength: number,
  ): void {
    const r = this.radius;
    const cosine = beforeX * afterX + beforeY * afterY;
    const turn = beforeX * afterY - beforeY * afterX;
    // The sides meet at 1 / cos(half the angle) along the sum of the normals.
    const tip = r / (1 + cosine);
    const tipX = tip * (beforeX + afterX);
    const tipY = tip * (beforeY + afterY);
    /** 1 where the left side is the outer one. */
    const side = turn >= 0 ? 1 : -1;
    const outer = turn >= 0 ? left : right;
    const inner = turn >= 0 ? right : left;
    const [fromX, fromY] = [side * r * beforeX, side * r * beforeY];
    const [toX, toY] = [side * r * afterX, side * r * afterY];
    if (cosine >= this.pointed) outer.add(x + side * tipX, y + side * tipY);
    else {
      outer.add(x + fromX, y + fromY);
      if (this.style.join === 'round') this.arc(outer, x, y, fromX, fromY, toX, toY, side);
      outer.add(x + toX, y + toY);
    }
    const alongPx = tip * Math.abs(turn);
    if (alongPx <= beforeLength && alongPx <= afterLength) inner.add(x - side * tipX, y - side * tipY);
    else {
      // By way of the vertex, so that no part winds the other way.
      inner.add(x - fromX, y - fromY);
      inner.add(x, y);
      inner.add(x - toX, y - toY);
    }
  }

  /** Adds the points of an arc around a centre, between its ends. `side` is 1 for clockwise. */
  private arc(
    points: Points,
    x: number,
    y: number,
    fromX: number,
    fromY: number,
    toX: number,
    toY: number,
    side: number,
  ): void {
    const { stepCosine } = this;
    const sine = side * this.stepSine;
    let dx = fromX;
    let dy = fromY;
    for (let i = 1; i < this.steps; i++) {
      const turnedX = dx * stepCosine - dy * sine;
      dy = dx * sine + dy * stepCosine;
      dx = turnedX;
      if (side * (dx * toY - dy * toX) <= 0) return;
      points.add(x + dx, y + dy);
    }
  }
}
