/** Compares pictures and placed labels with the reference. */
import sharp from 'sharp';
import type { PlacedLabel } from '../labels/label.js';
import { Picture } from '../testing/pictures.js';

/** Difference of a channel, of 255, beyond which a pixel counts as wrong. */
const channelTolerance = 12;
/** Maximum share of wrong pixels: 30 of 60,000. */
const maxWrongShare = 0.0005;
/** Maximum mean difference of all channels, of 255. */
const maxMeanError = 0.1;

/** Returns what is wrong with a picture, or undefined. */
export function pictureProblem(drawn: Picture, expected: Picture): string | undefined {
  if (drawn.width !== expected.width || drawn.height !== expected.height) {
    return `is ${drawn.width} by ${drawn.height} pixels and was ${expected.width} by ${expected.height}`;
  }
  const wrongShare = drawn.differences(expected, channelTolerance) / (drawn.width * drawn.height);
  if (wrongShare > maxWrongShare) return `has ${(100 * wrongShare).toFixed(3)} % wrong pixels`;
  const meanError = meanErrorOf(drawn, expected);
  return meanError <= maxMeanError ? undefined : `has a mean error of ${meanError.toFixed(3)}`;
}

/** Returns the mean difference of all channels, of 255. The pictures must have the same size. */
export function meanErrorOf(drawn: Picture, expected: Picture): number {
  let sum = 0;
  for (let i = 0; i < drawn.pixels.length; i++) sum += Math.abs(drawn.pixels[i]! - expected.pixels[i]!);
  return sum / drawn.pixels.length;
}

/** Returns the difference of each pixel, from black to white. The pictures must have the same size. */
export function differenceOf(drawn: Picture, expected: Picture): Picture {
  const off = drawn.pixels.map((value, i) => Math.abs(value - expected.pixels[i]!));
  return new Picture(off, drawn.width, drawn.height);
}

/** Encodes a picture without loss. */
export function encoded({ pixels, width, height }: Picture): Promise<Buffer> {
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .webp({ lossless: true, effort: 6 })
    .toBuffer();
}

/** A placed label in the snapshot. */
export interface LabelRecord {
  /** The text; `icon NAME` for an icon without text. */
  readonly text: string;
  /** Centre in CSS pixels of the image: of the middle run or of the icon. */
  readonly x: number;
  readonly y: number;
  /** Degrees, clockwise. */
  readonly angle: number;
}

/** Maximum distance between a label and its reference. */
const maxShiftPx = 0.5;
const maxTurnDegrees = 1;

/** Returns what is compared of a label: its text, and the position and angle (degrees) in its middle. */
export function labelRecord({ candidate, placement: { runs, icon } }: PlacedLabel): LabelRecord {
  const { x, y, angle } = runs[runs.length >> 1] ?? icon!;
  const text = runs.length > 0 ? candidate.text : `icon ${icon!.paint.image.name}`;
  return { text, x: rounded(x), y: rounded(y), angle: rounded((angle * 180) / Math.PI) };
}

const rounded = (value: number): number => Math.round(value * 10) / 10 + 0;

/** Returns one line for each label that is lost, new, or moved beyond the tolerance. Empty when the labels match. */
export function labelProblems(drawn: readonly LabelRecord[], expected: readonly LabelRecord[]): string[] {
  const left = [...drawn];
  const take = (matches: (label: LabelRecord) => boolean): LabelRecord | undefined => {
    const index = left.findIndex(matches);
    return index < 0 ? undefined : left.splice(index, 1)[0];
  };
  const unmatched = expected.filter((label) => !take((other) => isSame(label, other)));
  const problems = unmatched.map((label) => {
    const moved = take((other) => other.text === label.text);
    return moved ? `moved: ${described(label)} is now at ${position(moved)}` : `lost: ${described(label)}`;
  });
  return [...problems, ...left.map((label) => `new: ${described(label)}`)];
}

function isSame(a: LabelRecord, b: LabelRecord): boolean {
  const turn = Math.abs(((a.angle - b.angle + 540) % 360) - 180);
  return a.text === b.text && Math.hypot(a.x - b.x, a.y - b.y) <= maxShiftPx && turn <= maxTurnDegrees;
}

const position = ({ x, y, angle }: LabelRecord): string => `${x},${y}${angle === 0 ? '' : ` turned by ${angle}°`}`;
const described = (label: LabelRecord): string => `${JSON.stringify(label.text)} at ${position(label)}`;
