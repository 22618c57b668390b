/**
 * Shapes text along a line.
 *
 * On a straight part of the line the text is drawn as one rotated run. On a bend each letter is rotated separately, if
 * the script allows it. Text of other scripts is placed on a straight part or not at all. Pure, except that it measures
 * letters.
 */
import { angleBetween } from '../anchors/join-lines.js';
import { distance, type Point, type Polyline } from '../anchors/polyline.js';
import { rowHeightEm, turnedBoxes } from '../collision/boxes.js';
import type { Placement, Run } from '../label.js';
import { baselineEm } from '../text/measure.js';
import { isSeparable } from '../text/script.js';
import type { TextStyle } from '../text/text-style.js';
import { rowRuns, rowScale, type StyledLetter, styledLetters } from './row.js';

/** Layout properties of text along lines, from the style. */
export interface LineStyle {
  /** Maximum angle between letters at most one em apart, in radians. */
  readonly maxAngle: number;
  /** Whether text is flipped so that it is never upside down. */
  readonly keepsUpright: boolean;
  /** Distance of the row's centre below the line, in CSS pixels. */
  readonly offsetPx: number;
  /** How far a straight text may extend beyond each end of a line that is too short for it, in CSS pixels. */
  readonly overhangPx: number;
}

/** The section of a line that one label is placed in. */
export interface LineSection {
  readonly line: Polyline;
  /** Distances along the line. */
  readonly from: number;
  readonly to: number;
}

/** The part of the line that the text covers. */
interface Span extends LineSection {
  readonly start: Point;
  readonly end: Point;
}

/** Maximum deviation of a line that counts as straight, in ems. */
const straightToleranceEm = 0.12;
/** The same for scripts whose letters cannot be separated. */
const unbendableToleranceEm = 0.35;
/** Maximum angle between a letter and the whole text. A larger one would look like a ring. */
const maxLean = (50 * Math.PI) / 180;

/** Maximum angle between a letter and the way to it from the letter before. A larger one would break a word in two. */
const maxStepAside = (35 * Math.PI) / 180;

/** Maximum turn to one side at a letter, and to the other side at the next. A larger one looks like a crack. */
const maxZigzag = (20 * Math.PI) / 180;

/** Minimum distance of two letters, as a share of that on a straight line. Nearer ones would overlap inside a bend. */
const minPitch = 0.8;

/** Maximum number of letters, including spaces, within one em. */
const maxLettersPerEm = 6;

/** Spans tried in one section. */
const maxSpans = 24;

/** A placement, and the distance of its centre along the line. */
interface PlacementAlongLine extends Placement {
  readonly middle: number;
}

/** A text to place along a line. */
interface Row {
  readonly text: string;
  readonly textStyle: TextStyle;
  readonly style: LineStyle;
  readonly width: number;
  /** Factor of its largest section to the size of the text. */
  readonly scale: number;
  /** Maximum deviation of a line that counts as straight, in CSS pixels. */
  readonly tolerancePx: number;
}

/** Yields all ways to place a text of this width in the section, the best one first. */
export function* placementsAlongLine(
  section: LineSection,
  text: string,
  width: number,
  textStyle: TextStyle,
  style: LineStyle,
): Generator<PlacementAlongLine> {
  const canSeparate = isSeparable(text);
  const tolerancePx = (canSeparate ? straightToleranceEm : unbendableToleranceEm) * textStyle.sizePx;
  const row: Row = { text, textStyle, style, width, scale: rowScale(text, 0, textStyle), tolerancePx };
  let letters: readonly StyledLetter[] | undefined;
  for (const span of bestSpans(section, width)) {
    let placement = straightPlacement(span, row);
    if (!placement && canSeparate && style.maxAngle > 0) {
      letters ??= styledLetters(text, textStyle);
      placement = bentPlacement(span, letters, row);
    }
    if (placement) yield placement;
  }
  const overhanging = overhangingSpan(section, width, style.overhangPx);
  const placement = overhanging && straightPlacement(overhanging, row);
  if (placement) yield { isMakeshift: true, ...placement };
}

/** Returns the span of a text that is wider than the whole line; null if the line is too short or long enough. */
function overhangingSpan({ line, from, to }: LineSection, width: number, overhangPx: number): Span | null {
  const { length } = line;
  if (to - from < length || width <= length || width > length + 2 * overhangPx) return null;
  const [first, last] = [line.at(0), line.at(length)];
  const chord = Math.hypot(last[0] - first[0], last[1] - first[1]);
  if (chord === 0) return null;
  const beyond = (width / chord - 1) / 2;
  const start: Point = [first[0] - beyond * (last[0] - first[0]), first[1] - beyond * (last[1] - first[1])];
  const end: Point = [last[0] + beyond * (last[0] - first[0]), last[1] + beyond * (last[1] - first[1])];
  return { line, from: 0, to: length, start, end };
}

/** Rates spans by how straight they are, then by how near they are to the middle. */
function bestSpans({ line, from, to }: LineSection, width: number): Span[] {
  const slack = to - from - width;
  if (slack < 0) return [];
  const count = Math.max(1, Math.min(maxSpans, Math.ceil(slack / 6)));
  const rated: { readonly span: Span; readonly badness: number }[] = [];
  for (let i = 0; i < count; i++) {
    // From the middle outwards, alternating between both sides.
    const aside = ((i % 2 === 0 ? 1 : -1) * Math.ceil(i / 2)) / count;
    const begin = from + slack * (0.5 + aside);
    const start = line.at(begin);
    const end = line.at(begin + width);
    const bend = 1 - distance(end[0] - start[0], end[1] - start[1]) / width;
    const span = { line, from: begin, to: begin + width, start, end };
    rated.push({ span, badness: 20 * bend + Math.abs(aside) });
  }
  rated.sort((a, b) => a.badness - b.badness);
  return rated.map(({ span }) => span);
}

/** Returns null where the line bends too much. */
function straightPlacement({ line, from, to, start, end }: Span, row: Row): PlacementAlongLine | null {
  const { text, textStyle, style, width, scale } = row;
  if (line.leaves(start, end, from, to, row.tolerancePx)) return null;
  const angle = readingAngle(start, end, style);
  const [x, y] = below([(start[0] + end[0]) / 2, (start[1] + end[1]) / 2], angle, style.offsetPx);
  const height = rowHeightEm * scale * textStyle.sizePx;
  return {
    runs: rowRuns(text, 0, textStyle, x, y, angle),
    boxes: turnedBoxes(x, y, width, height, angle),
    rectangle: { x, y, width, height, angle },
    middle: (from + to) / 2,
  };
}

/** Returns null where the line bends more than the style allows. */
function bentPlacement(
  { line, from, to, start, end }: Span,
  letters: readonly StyledLetter[],
  { textStyle, style, scale }: Row,
): PlacementAlongLine | null {
  const angle = readingAngle(start, end, style);
  const isReversed = Math.abs(angleBetween(angle, directionOf(start, end))) > Math.PI / 2;
  const runs: Run[] = [];
  const boxes = [];
  const largestPx = scale * textStyle.sizePx;
  let last: Point | undefined;
  let lastWidth = 0;
  let lastWay: number | undefined;
  let lastTurn = 0;
  let advance = 0;
  for (const { letter, width, section } of letters) {
    const middle = isReversed ? to - advance - width / 2 : from + advance + width / 2;
    // A letter takes the direction of about one em of the line, so that small bends do not make letters jitter.
    const reach = Math.max(width, textStyle.sizePx) / 2;
    const along = directionOf(line.at(middle - reach), line.at(middle + reach)) + (isReversed ? Math.PI : 0);
    if (Math.abs(angleBetween(angle, along)) > maxLean) return null;
    const at = below(line.at(middle), along, style.offsetPx);
    if (last) {
      const way = directionOf(last, at);
      if (Math.abs(angleBetween(along, way)) > maxStepAside) return null;
      if (distance(at[0] - last[0], at[1] - last[1]) < (minPitch * (lastWidth + width)) / 2) return null;
      const turn = lastWay === undefined ? 0 : angleBetween(lastWay, way);
      if (turn * lastTurn < 0 && Math.min(Math.abs(turn), Math.abs(lastTurn)) > maxZigzag) return null;
      lastWay = way;
      lastTurn = turn;
    }
    last = at;
    lastWidth = width;
    // Sections of different sizes stand on one baseline.
    const sizePx = section?.font.sizePx ?? textStyle.sizePx;
    const [x, y] = sizePx === largestPx ? at : below(at, along, baselineEm(letter) * (largestPx - sizePx));
    if (turnsNear(runs, x, y, along, textStyle.sizePx, style.maxAngle)) return null;
    runs.push({ text: letter, x, y, angle: along, ...(section && { section }) });
    boxes.push(...turnedBoxes(x, y, width, rowHeightEm * sizePx, along));
    advance += width;
  }
  return { runs, boxes, middle: (from + to) / 2 };
}

/** Returns whether one of the last letters is near and turned by more than the maximum angle. */
function turnsNear(runs: readonly Run[], x: number, y: number, angle: number, nearPx: number, most: number): boolean {
  for (let i = Math.max(0, runs.length - maxLettersPerEm); i < runs.length; i++) {
    const run = runs[i]!;
    if (Math.abs(angleBetween(run.angle, angle)) > most && distance(run.x - x, run.y - y) <= nearPx) return true;
  }
  return false;
}

/** Returns the direction of the text, flipped if it must stay upright. Text on a vertical line reads upwards. */
function readingAngle(start: Point, end: Point, { keepsUpright }: LineStyle): number {
  const angle = directionOf(start, end);
  const isUpsideDown = Math.cos(angle) < -1e-9 || (Math.cos(angle) < 1e-9 && Math.sin(angle) > 0);
  return keepsUpright && isUpsideDown ? angleBetween(0, angle + Math.PI) : angle;
}

function directionOf(start: Point, end: Point): number {
  return Math.atan2(end[1] - start[1], end[0] - start[0]);
}

/** Returns the point at this distance below another one, relative to the reading direction. */
function below([x, y]: Point, angle: number, distancePx: number): Point {
  return [x - distancePx * Math.sin(angle), y + distancePx * Math.cos(angle)];
}
