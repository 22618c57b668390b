/** Computes lines beside lines: moved by `line-offset`, and the two sides of a `line-gap-width`. Pure. */
import type { Coordinates } from '../tiles/coordinates.js';
import type { Lines } from './vertices.js';

/** How two segments of a line meet, as `line-join` of the style specification. */
export type LineJoin = 'bevel' | 'round' | 'miter';

/** Where a pen draws beside a line. Lengths in units of the coordinates, positive to the right of its direction. */
export interface Beside {
  /** How far the line is moved. */
  readonly offset: number;
  /** Length over which a moved line bends towards a sharp corner. */
  readonly bend: number;
  /** The strokes beside the moved line; [0] is that line itself. */
  readonly sides: readonly number[];
  readonly join: LineJoin;
  readonly miterLimit: number;
}

/** Returns whether a pen draws only the line itself. */
export const isOnLine = ({ offset, sides }: Beside): boolean => offset === 0 && sides.length === 1;

/** Returns the lines that a pen strokes for lines or rings: one, or two with a gap. */
export function linesBeside(line: Lines, closed: boolean, { offset, bend, sides, join, miterLimit }: Beside): Lines[] {
  const moved = offset === 0 ? line : movedLines(line, closed, offset, bend);
  return sides.map((side) => (side === 0 ? moved : offsetLines(moved, closed, side, join, miterLimit)));
}

/** Cosine of the angle between segments up to which round joins are drawn as miters. The difference is invisible. */
const nearlyStraight = 0.95;
/** Angle of one step of a round join. */
const arcStep = Math.PI / 8;

/** A moved corner is at most so many distances from its vertex: MapLibre GL JS keeps no longer vectors. */
export const maxMovedTip = 2;
/** Lengths of the tip between which a moved corner is split in two: such hairpins point along the line. */
const splitFrom = 3;
const splitTo = 8;

/**
 * Moves each line or ring sideways like MapLibre GL JS: right of its direction by a positive distance, left by a
 * negative one, in units of the coordinates. Corners are the intersection of the moved segments. Towards a corner below
 * 60 degrees, whose intersection is too far away, both segments bend over the length `bend`.
 */
export function movedLines({ xy, ends }: Lines, closed: boolean, distance: number, bend: number): Coordinates {
  return beside({ xy, ends }, closed, distance, (x, y, before, after, out) =>
    movedCorner(x, y, before, after, distance, bend, out),
  );
}

function movedCorner(
  x: number,
  y: number,
  before: Segment,
  after: Segment,
  distance: number,
  bend: number,
  out: number[],
): void {
  const cosine = before.x * after.x + before.y * after.y;
  const sum = Math.hypot(before.x + after.x, before.y + after.y);
  const tipLength = Math.sqrt(2 / Math.max(0, 1 + cosine));
  const isSharp = tipLength > maxMovedTip;
  const tip = sum === 0 ? 0 : (distance * Math.min(tipLength, maxMovedTip)) / sum;
  const [tipX, tipY] = [tip * (before.x + after.x), tip * (before.y + after.y)];
  // Normals are to the right of their segments, which point to (y, -x).
  if (isSharp && before.length > 2 * bend) {
    out.push(x + distance * before.x - bend * before.y, y + distance * before.y + bend * before.x);
  }
  const split = Math.max(0, Math.min(1, (tipLength - splitFrom) / (splitTo - splitFrom)));
  for (const normal of split > 0 ? [before, after] : [before]) {
    const [ownX, ownY] = [distance * normal.x, distance * normal.y];
    out.push(x + tipX + split * (ownX - tipX), y + tipY + split * (ownY - tipY));
  }
  if (isSharp && after.length > 2 * bend) {
    out.push(x + distance * after.x + bend * after.y, y + distance * after.y - bend * after.x);
  }
}

/**
 * Moves each line or ring sideways: right of its direction by a positive distance, left by a negative one, in units of
 * the coordinates. Outer corners are joined as requested. Inner corners are the intersection of the moved segments, if
 * these are long enough.
 */
export function offsetLines(
  { xy, ends }: Lines,
  closed: boolean,
  distance: number,
  join: LineJoin,
  miterLimit: number,
): Coordinates {
  return beside({ xy, ends }, closed, distance, (x, y, before, after, out) =>
    corner(x, y, before, after, distance, join, miterLimit, out),
  );
}

/** Appends the vertices of a corner between two segments that meet in (x, y). */
type Corner = (x: number, y: number, before: Segment, after: Segment, out: number[]) => void;

function beside({ xy, ends }: Lines, closed: boolean, distance: number, addCorner: Corner): Coordinates {
  const moved: number[] = [];
  const movedEnds: number[] = [];
  let start = 0;
  for (const end of ends) {
    offsetPart(distinct(xy, start, end, closed), closed, distance, addCorner, moved);
    if (moved.length > (movedEnds.at(-1) ?? 0)) movedEnds.push(moved.length);
    start = end;
  }
  return { xy: moved, ends: movedEnds };
}

/** Returns the part without repeated vertices: segments of zero length have no direction. */
function distinct(xy: ArrayLike<number>, start: number, end: number, closed: boolean): number[] {
  const kept: number[] = [];
  for (let i = start; i < end; i += 2) {
    if (kept.at(-2) !== xy[i] || kept.at(-1) !== xy[i + 1]) kept.push(xy[i]!, xy[i + 1]!);
  }
  if (closed && kept.length > 2 && kept[0] === kept.at(-2) && kept[1] === kept.at(-1)) kept.length -= 2;
  return kept;
}

/** A segment's length and unit normal, to the right of its direction where y grows downwards. */
interface Segment {
  readonly x: number;
  readonly y: number;
  readonly length: number;
}

function offsetPart(xy: number[], closed: boolean, distance: number, addCorner: Corner, out: number[]): void {
  const count = xy.length / 2;
  if (count < 2) return;
  const segments = segmentsOf(xy, closed && count > 2);
  for (let vertex = 0; vertex < count; vertex++) {
    const x = xy[2 * vertex]!;
    const y = xy[2 * vertex + 1]!;
    const before = segments[vertex - 1] ?? (segments.length === count ? segments.at(-1)! : undefined);
    const after = segments[vertex];
    if (before && after) addCorner(x, y, before, after, out);
    else {
      const only = (before ?? after)!;
      out.push(x + distance * only.x, y + distance * only.y);
    }
  }
}

function segmentsOf(xy: readonly number[], closed: boolean): Segment[] {
  const segments: Segment[] = [];
  const last = closed ? xy.length : xy.length - 2;
  for (let i = 0; i < last; i += 2) {
    const dx = xy[(i + 2) % xy.length]! - xy[i]!;
    const dy = xy[(i + 3) % xy.length]! - xy[i + 1]!;
    const length = Math.hypot(dx, dy);
    segments.push({ x: -dy / length, y: dx / length, length });
  }
  return segments;
}

function corner(
  x: number,
  y: number,
  before: Segment,
  after: Segment,
  distance: number,
  join: LineJoin,
  miterLimit: number,
  out: number[],
): void {
  const cosine = before.x * after.x + before.y * after.y;
  const turn = before.x * after.y - before.y * after.x;
  const inner = turn * distance > 0;
  // The tip is at 1 / cos(half the angle) along the sum of the normals.
  const tip = distance / (1 + cosine);
  const tipLength = Math.sqrt(2 / (1 + cosine));
  const alongSegment = Math.abs(distance) * Math.sqrt(Math.max(0, tipLength * tipLength - 1));
  const pointed = inner
    ? alongSegment <= Math.min(before.length, after.length)
    : (join === 'miter' && tipLength <= miterLimit) || cosine > nearlyStraight;
  if (pointed) {
    out.push(x + tip * (before.x + after.x), y + tip * (before.y + after.y));
    return;
  }
  out.push(x + distance * before.x, y + distance * before.y);
  if (join === 'round' && !inner) arc(x, y, before, Math.atan2(turn, cosine), distance, out);
  out.push(x + distance * after.x, y + distance * after.y);
}

/** Returns the points of a round join between its ends. */
function arc(x: number, y: number, from: Segment, angle: number, distance: number, out: number[]): void {
  const steps = Math.ceil(Math.abs(angle) / arcStep);
  const first = Math.atan2(from.y, from.x);
  for (let step = 1; step < steps; step++) {
    const direction = first + (angle * step) / steps;
    out.push(x + distance * Math.cos(direction), y + distance * Math.sin(direction));
  }
}
