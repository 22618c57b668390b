/** Tells squares from streets by the lines that have their name. Pure. */
import { angleBetween } from './join-lines.js';
import { lengthOf, type Point, Polyline } from './polyline.js';

/** The middle of a square and its size, in CSS pixels of the image. */
export interface Square {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Lines that are this much narrower than long are a street, also with two carriageways. */
const leastAspect = 0.35;
/** Minimum length of lines around or across a square, as a share of its width and height together. A bend has 1. */
const leastLength = 1.25;
/** Directions in which lines are measured, over a quarter turn. */
const directions = 12;
/** Maximum angle about the middle of a square without a line. An open long side has 118° at the most. */
const mostOpenAngle = (2 * Math.PI) / 3;
/** Number of points at which the longest line across a square is looked at. */
const steps = 32;
/** A line that is nearly all of the street and turns to the left and to the right by more than this, winds. */
const mostTurnBack = 0.75 * Math.PI;
const nearlyAll = 0.7;
/** Number of parts of a line whose directions are compared. */
const windingParts = 24;

/**
 * Returns the square that lines of one name surround or cross, or null for a street. Lines alternate x and y of their
 * vertices, and are joined.
 */
export function squareAround(lines: readonly (readonly number[])[]): Square | null {
  const length = lines.reduce((sum, xy) => sum + lengthOf(xy), 0);
  let isLong = false;
  for (let i = 0; i < directions; i++) {
    const { width, height } = extentOf(lines, (i * Math.PI) / 2 / directions);
    if (Math.min(width, height) < leastAspect * Math.max(width, height)) return null;
    isLong ||= length >= leastLength * (width + height);
  }
  if (!isLong) return null;
  const square = extentOf(lines, 0);
  const winds = lines.some((xy) => lengthOf(xy) >= nearlyAll * length && turnsBack(new Polyline(xy)));
  return !winds && isSurrounded(square, lines) ? square : null;
}

/** Returns whether a line turns to both sides. One around a square turns to one side. */
function turnsBack(line: Polyline): boolean {
  const turns = Array.from({ length: windingParts - 1 }, (_, i) => {
    const [before, at, after] = [i, i + 1, i + 2].map((part) => line.at((part / windingParts) * line.length));
    return angleBetween(directionOf(before!, at!), directionOf(at!, after!));
  });
  const all = turns.reduce((sum, turn) => sum + Math.abs(turn), 0);
  return all - Math.abs(turns.reduce((sum, turn) => sum + turn, 0)) > mostTurnBack;
}

const directionOf = ([x, y]: Point, [toX, toY]: Point): number => Math.atan2(toY - y, toX - x);

/** Returns whether lines are on three sides of the middle. */
function isSurrounded({ x, y, width, height }: Square, lines: readonly (readonly number[])[]): boolean {
  const stepPx = Math.max(width, height) / steps;
  const angles = lines.flatMap((xy) => {
    const line = new Polyline(xy);
    const count = Math.max(1, Math.ceil(line.length / stepPx));
    return Array.from({ length: count + 1 }, (_, i) => {
      const [atX, atY] = line.at((i / count) * line.length);
      return Math.atan2(atY - y, atX - x);
    });
  });
  angles.sort((one, other) => one - other);
  return angles.every((angle, i) => (angles[i + 1] ?? angles[0]! + 2 * Math.PI) - angle <= mostOpenAngle);
}

/** Returns the extent of lines along two axes that are turned by an angle, and the middle on these axes. */
function extentOf(lines: readonly (readonly number[])[], angle: number): Square {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const xy of lines) {
    for (let i = 0; i < xy.length; i += 2) {
      const along = xy[i]! * cos + xy[i + 1]! * sin;
      const across = xy[i + 1]! * cos - xy[i]! * sin;
      left = Math.min(left, along);
      right = Math.max(right, along);
      top = Math.min(top, across);
      bottom = Math.max(bottom, across);
    }
  }
  return { x: (left + right) / 2, y: (top + bottom) / 2, width: right - left, height: bottom - top };
}
