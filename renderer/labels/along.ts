/**
 * Text along a line.
 *
 * Where the line is straight the text is drawn whole, turned. Where it bends each letter is turned by itself, if the
 * script allows; text of other scripts finds a straight place or none. Pure but for the widths of letters.
 */

import { rowHeightEm, turnedBoxes } from './boxes.js';
import { angleBetween } from './join.js';
import type { Run, Setting } from './label.js';
import { letterWidths } from './measure.js';
import type { Point, Polyline } from './polyline.js';
import { isSeparable } from './script.js';
import type { Look } from './text-style.js';

/** How a style wants text along lines. */
export interface LineStyle {
  /** Radians between two letters that are an em apart or less. */
  readonly maxAngle: number;
  /** Whether text is turned so that it never stands on its head. */
  readonly keepsUpright: boolean;
  /** How far below the line the middle of the row is, in CSS pixels. */
  readonly offsetPx: number;
}

/** A stretch of a line that one label is to be in. */
export interface Stretch {
  readonly line: Polyline;
  /** Distances along the line. */
  readonly from: number;
  readonly to: number;
}

/** A part of the line that text covers. */
interface Place extends Stretch {
  readonly start: Point;
  readonly end: Point;
}

/** A line that leaves the straight by no more is straight: of an em. */
const straightToleranceEm = 0.12;
/** Scripts that can't be bent put up with more. */
const unbendableToleranceEm = 0.35;
/** How far a letter may lean from the direction of the whole text: more reads like a ring. */
const maxLean = (50 * Math.PI) / 180;

/** Letters, spaces too, that an em may hold. */
const maxNear = 6;

/** Places that are tried on one stretch, and how many of the best of them are looked at closely. */
const maxPlaces = 24;
const maxTries = 8;

/** A text, and how far along the line its middle is. */
export interface SettingAlong extends Setting {
  readonly middle: number;
}

/** All ways to set a text of this width in the stretch, the best one first. */
export function* settingsAlong(
  stretch: Stretch,
  text: string,
  width: number,
  look: Look,
  style: LineStyle,
): Generator<SettingAlong> {
  for (const place of bestPlaces(stretch, width)) {
    const setting = straightSetting(place, text, width, look, style) ?? bentSetting(place, text, look, style);
    if (setting) yield { ...setting, middle: (place.from + place.to) / 2 };
  }
}

/** Straight ones first, and of these the ones near the middle. */
function bestPlaces({ line, from, to }: Stretch, width: number): Place[] {
  const slack = to - from - width;
  if (slack < 0) return [];
  const count = Math.max(1, Math.min(maxPlaces, Math.ceil(slack / 6)));
  const rated = Array.from({ length: count }, (_, i) => {
    // From the middle outwards, to both sides in turn.
    const aside = ((i % 2 === 0 ? 1 : -1) * Math.ceil(i / 2)) / count;
    const begin = from + slack * (0.5 + aside);
    const start = line.at(begin);
    const end = line.at(begin + width);
    const bend = 1 - Math.hypot(end[0] - start[0], end[1] - start[1]) / width;
    return { place: { line, from: begin, to: begin + width, start, end }, badness: 20 * bend + Math.abs(aside) };
  });
  rated.sort((a, b) => a.badness - b.badness);
  return rated.slice(0, maxTries).map(({ place }) => place);
}

/** Null where the line bends too much. */
function straightSetting(place: Place, text: string, width: number, look: Look, style: LineStyle): Setting | null {
  const tolerance = (isSeparable(text) ? straightToleranceEm : unbendableToleranceEm) * look.sizePx;
  const { start, end } = place;
  if (place.line.between(place.from, place.to).some((vertex) => distanceToLine(vertex, start, end) > tolerance))
    return null;
  const angle = readingAngle(start, end, style);
  const [x, y] = below([(start[0] + end[0]) / 2, (start[1] + end[1]) / 2], angle, style.offsetPx);
  const height = rowHeightEm * look.sizePx;
  return {
    runs: [{ text, x, y, angle }],
    boxes: turnedBoxes(x, y, width, height, angle),
    frame: { x, y, width, height, angle },
  };
}

/** Null where the script can't be bent, or the line bends too much for the style. */
function bentSetting(place: Place, text: string, look: Look, style: LineStyle): Setting | null {
  if (!isSeparable(text)) return null;
  const { line, from, to } = place;
  const angle = readingAngle(place.start, place.end, style);
  const isReversed = Math.abs(angleBetween(angle, directionOf(place.start, place.end))) > Math.PI / 2;
  const runs: Run[] = [];
  const boxes = [];
  let written = 0;
  for (const { letter, width } of letterWidths(text, look)) {
    const middle = isReversed ? to - written - width / 2 : from + written + width / 2;
    // A letter takes the direction of a stretch about as long as an em, so that the line's small bends don't make it
    // tremble.
    const reach = Math.max(width, look.sizePx) / 2;
    const along = directionOf(line.at(middle - reach), line.at(middle + reach)) + (isReversed ? Math.PI : 0);
    if (Math.abs(angleBetween(angle, along)) > maxLean) return null;
    const [x, y] = below(line.at(middle), along, style.offsetPx);
    const near = runs.slice(-maxNear).filter((run) => Math.hypot(run.x - x, run.y - y) <= look.sizePx);
    if (near.some((run) => Math.abs(angleBetween(run.angle, along)) > style.maxAngle)) return null;
    runs.push({ text: letter, x, y, angle: along });
    boxes.push(...turnedBoxes(x, y, width, rowHeightEm * look.sizePx, along));
    written += width;
  }
  return { runs, boxes };
}

/** The direction in which text runs from one end to the other, or back. A line straight up is read upwards. */
function readingAngle(start: Point, end: Point, { keepsUpright }: LineStyle): number {
  const angle = directionOf(start, end);
  const isUpsideDown = Math.cos(angle) < -1e-9 || (Math.cos(angle) < 1e-9 && Math.sin(angle) > 0);
  return keepsUpright && isUpsideDown ? angleBetween(0, angle + Math.PI) : angle;
}

function directionOf(start: Point, end: Point): number {
  return Math.atan2(end[1] - start[1], end[0] - start[0]);
}

/** The point so far below another, as seen by who reads in this direction. */
function below([x, y]: Point, angle: number, distance: number): Point {
  return [x - distance * Math.sin(angle), y + distance * Math.cos(angle)];
}

function distanceToLine([x, y]: Point, start: Point, end: Point): number {
  const dx = end[0] - start[0];
  const dy = end[1] - start[1];
  const length = Math.hypot(dx, dy);
  return length === 0
    ? Math.hypot(x - start[0], y - start[1])
    : Math.abs((x - start[0]) * dy - (y - start[1]) * dx) / length;
}
