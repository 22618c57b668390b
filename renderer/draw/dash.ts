/**
 * Cuts lines into dashes, within the view only. The drawing engine would dash a whole line of which 1 % may be visible.
 * Pure.
 */
import type { Coordinates } from '../tiles/coordinates.js';
import type { PixelBox } from '../types.js';
import type { Lines } from './vertices.js';

/** Alternating lengths of dashes and gaps. */
export interface DashPattern {
  readonly lengths: readonly number[];
  /** Sum of all lengths, greater than 0. */
  readonly period: number;
  /** Offset in the pattern at the start of a line. */
  readonly start: number;
}

/** A pattern without gaps, for lines that are only clipped. */
export const unbroken: DashPattern = { lengths: [Infinity], period: Infinity, start: 0 };

/**
 * Returns the pattern of a style's `line-dasharray`, with each length multiplied by `unit`. Returns null when it has no
 * gaps, or when its period is below `minPeriod`. An odd count ends with a dash that joins the first dash of the next
 * period. No dash is shorter than `minDash`.
 */
export function dashPattern(
  dasharray: readonly number[],
  unit: number,
  minPeriod: number,
  minDash = 0,
): DashPattern | null {
  const lengths = dasharray.map((length) => Math.max(0, length) * unit);
  const last = lengths.length % 2 === 1 ? lengths.pop()! : 0;
  if (lengths.length > 0) lengths[0]! += last;
  for (let i = 0; i < lengths.length; i += 2) lengths[i] = Math.max(minDash, lengths[i]!);
  const period = lengths.reduce((sum, length) => sum + length, 0);
  const gaps = lengths.reduce((sum, length, i) => sum + (i % 2) * length, 0);
  return gaps > 0 && period >= minPeriod && Number.isFinite(period) ? { lengths, period, start: last } : null;
}

/**
 * Returns the dashes of each line or ring inside the box. A line that leaves the box and returns continues the pattern
 * at the right offset.
 */
export function dashLines({ xy, ends }: Lines, closed: boolean, pattern: DashPattern, box: PixelBox): Coordinates {
  const dashes = new Dashes();
  let start = 0;
  for (const end of ends) {
    let travelled = pattern.start;
    for (let i = start + 2; i < end + (closed ? 2 : 0); i += 2) {
      const next = i < end ? i : start;
      travelled = dashSegment(dashes, xy[i - 2]!, xy[i - 1]!, xy[next]!, xy[next + 1]!, travelled, pattern, box);
    }
    dashes.lift();
    start = end;
  }
  return dashes;
}

/** A pen that draws while it is down. */
class Dashes implements Coordinates {
  readonly xy: number[] = [];
  readonly ends: number[] = [];
  private down = false;

  drawTo(fromX: number, fromY: number, toX: number, toY: number): void {
    if (!this.down) this.xy.push(fromX, fromY);
    this.down = true;
    this.xy.push(toX, toY);
  }

  lift(): void {
    if (this.down) this.ends.push(this.xy.length);
    this.down = false;
  }
}

/**
 * Draws one segment's dashes. Lengths are measured from the line's start, modulo the period. Returns the length at the
 * segment's end.
 */
function dashSegment(
  dashes: Dashes,
  x: number,
  y: number,
  toX: number,
  toY: number,
  travelled: number,
  pattern: DashPattern,
  box: PixelBox,
): number {
  const length = Math.hypot(toX - x, toY - y);
  if (length === 0) return travelled;
  const dx = (toX - x) / length;
  const dy = (toY - y) / length;
  const [enter, leave] = insideBox(x, y, dx, dy, length, box);
  if (enter > 0 || enter >= leave) dashes.lift();

  let at = enter;
  let [index, left] = positionIn(pattern, travelled + enter);
  while (at < leave) {
    const complete = at + left <= leave;
    const until = complete ? at + left : leave;
    if (index % 2 === 0) dashes.drawTo(x + at * dx, y + at * dy, x + until * dx, y + until * dy);
    if (complete || index % 2 === 1) dashes.lift();
    if (complete) {
      index = (index + 1) % pattern.lengths.length;
      left = pattern.lengths[index]!;
    }
    at = until;
  }
  if (leave < length) dashes.lift();
  return (travelled + length) % pattern.period;
}

/** Returns the index of the pattern's current length at this distance, and how much of it remains. */
function positionIn({ lengths, period }: DashPattern, distance: number): [index: number, left: number] {
  let rest = distance % period;
  let index = 0;
  while (rest >= lengths[index]! && index < lengths.length - 1) rest -= lengths[index++]!;
  return [index, Math.max(0, lengths[index]! - rest)];
}

/** Returns the part of a segment inside the box (Liang–Barsky). If there is none, from ≥ to. */
function insideBox(
  x: number,
  y: number,
  dx: number,
  dy: number,
  length: number,
  box: PixelBox,
): [from: number, to: number] {
  let from = 0;
  let to = length;
  const cut = (position: number, speed: number, min: number, max: number) => {
    if (speed === 0) {
      if (position < min || position > max) to = -1;
      return;
    }
    const a = (min - position) / speed;
    const b = (max - position) / speed;
    from = Math.max(from, Math.min(a, b));
    to = Math.min(to, Math.max(a, b));
  };
  cut(x, dx, box.minX, box.maxX);
  cut(y, dy, box.minY, box.maxY);
  return [from, to];
}
