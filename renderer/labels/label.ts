/** What is to be lettered or marked with an icon, and how it could be. */

import type { Stretched } from '../sprites/stretch.js';
import type { PixelBox } from '../types.js';
import type { Padding } from './boxes.js';
import type { IconLook } from './icon-style.js';
import type { Look } from './text-style.js';

/** A text on a straight line. Lengths are CSS pixels of the image. */
export interface Run {
  readonly text: string;
  /** The middle of the row that it stands in. */
  readonly x: number;
  readonly y: number;
  /** Radians, clockwise on the screen; 0 is from left to right. */
  readonly angle: number;
}

/** What a text takes, turned about its middle. Lengths are CSS pixels of the image. */
export interface TextFrame {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Radians, clockwise on the screen. */
  readonly angle: number;
}

/** An icon in its place. Lengths are CSS pixels of the image. */
export interface PlacedIcon {
  readonly look: IconLook;
  /** Its middle. */
  readonly x: number;
  readonly y: number;
  /** Its parts from left to right, and from top to bottom. */
  readonly columns: Stretched;
  readonly rows: Stretched;
  /** Radians, clockwise on the screen. */
  readonly angle: number;
  /** Together they cover it. */
  readonly boxes: readonly PixelBox[];
}

/** One way to set a label: its text, its icon or both. */
export interface Setting {
  /** Empty without a text. */
  readonly runs: readonly Run[];
  /** Together they cover the text. */
  readonly boxes: readonly PixelBox[];
  /** Where the text is straight. */
  readonly frame?: TextFrame;
  readonly icon?: PlacedIcon;
}

/** `cooperative` labels may overlap each other; `always` ones any. */
export type Overlap = 'never' | 'cooperative' | 'always';

/** What a style wants of its texts, or icons, when they meet others. */
export interface Room {
  /** Kept free around it. */
  readonly padding: Padding;
  readonly overlap: Overlap;
  /** Whether others must keep clear of it. */
  readonly isObstacle: boolean;
  /** Whether the other one of a text and its icon may be there without it. */
  readonly isOptional: boolean;
}

/** What a style wants of a layer's texts beside their look. */
export interface Rules extends Room {
  /** From the middle of one text to the next one that says the same, at least, in CSS pixels. */
  readonly minRepeatPx: number;
}

/** A label that may find its place or not. */
export interface Candidate {
  /** Empty for an icon alone. */
  readonly text: string;
  /** Null without a text. */
  readonly look: Look | null;
  readonly rules: Rules;
  /** Of its icon, where it has one. */
  readonly iconRoom?: Room;
  /** All ways to set it, the best one first. */
  settings(): Iterable<Setting>;
}

/** A layer's labels that are tried, the most important ones: those beyond would find the map full. */
export const maxCandidates = 4_000;

export interface PlacedLabel {
  readonly candidate: Candidate;
  readonly setting: Setting;
}
