/** What is to be lettered, and how it could be. */

import type { PixelBox } from '../types.js';
import type { Look } from './look.js';

/** A text on a straight line. Lengths are CSS pixels of the image. */
export interface Run {
  readonly text: string;
  /** The middle of the row that it stands in. */
  readonly x: number;
  readonly y: number;
  /** Radians, clockwise on the screen; 0 is from left to right. */
  readonly angle: number;
}

/** One way to set a label. */
export interface Setting {
  readonly runs: readonly Run[];
  /** Together they cover it. */
  readonly boxes: readonly PixelBox[];
}

/** `cooperative` labels may overlap each other; `always` ones any. */
export type Overlap = 'never' | 'cooperative' | 'always';

/** What a style wants of a layer's labels beside their look. */
export interface Rules {
  /** Kept free around a label, in CSS pixels. */
  readonly paddingPx: number;
  readonly overlap: Overlap;
  /** Whether other labels must keep clear of it. */
  readonly isObstacle: boolean;
  /** From the middle of one label to the next one of the same text, at least, in CSS pixels. */
  readonly minRepeatPx: number;
}

/** A label that may find its place or not. */
export interface Candidate {
  readonly text: string;
  readonly look: Look;
  readonly rules: Rules;
  /** All ways to set it, the best one first. */
  settings(): Iterable<Setting>;
}

/** A layer's labels that are tried, the most important ones: those beyond would find the map full. */
export const maxCandidates = 4_000;

export interface PlacedLabel {
  readonly candidate: Candidate;
  readonly setting: Setting;
}
