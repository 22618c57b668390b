/**
 * Parses the index of a sprite: its images and their positions in the picture.
 *
 * Input: the untrusted JSON of a sprite and the size of its picture. Output: its images by name, and the problems of
 * invalid entries. Pure.
 */
import { type FieldProblem, invalid, type Validated } from '../../schemas/errors.js';
import { limitText } from '../../schemas/wording.js';

/** A range of an image in its pixels. */
export type Span = readonly [from: number, to: number];
/** Left, top, right and bottom edge of a part of an image, in its pixels. */
type Content = readonly [left: number, top: number, right: number, bottom: number];

/** An image in the picture of a sprite. */
export interface SpriteEntry {
  /** Position and size in pixels of the picture. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Pixels of the picture per CSS pixel. */
  readonly pixelRatio: number;
  /** Whether the image is a signed distance field, without colours. */
  readonly sdf: boolean;
  /** Ranges that stretch when the image is fitted to a text; null for all of it. */
  readonly stretchX: readonly Span[] | null;
  readonly stretchY: readonly Span[] | null;
  /** Area for the text; null for all of it. */
  readonly content: Content | null;
}

/** The valid entries of an index, and what is wrong with the others. */
export interface SpriteIndex {
  readonly entries: ReadonlyMap<string, SpriteEntry>;
  /** Problems of invalid entries. `param` is, for example, `museum.width`. */
  readonly problems: readonly FieldProblem[];
}

/** Largest index that is parsed. */
export const maxIndexBytes = 1_048_576;
/** Most images of a sprite. */
export const maxEntries = 5_000;
/** Maximum width and height of an image, in pixels of the picture. */
const maxSidePx = 1_024;
const maxPixelRatio = 8;
const maxSpans = 16;

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Parses an index. Fails when it is malformed as a whole. Invalid entries are left out. */
export function decodeSpriteIndex(json: Uint8Array, picture: Size): Validated<SpriteIndex> {
  if (json.length > maxIndexBytes) return invalid('', `must have at most ${limitText(maxIndexBytes)}`);
  const parsed = parse(json);
  if (!isObject(parsed)) return invalid('', 'must be a JSON object');
  const all = Object.entries(parsed);
  if (all.length > maxEntries) return invalid('', `must have at most ${maxEntries} images`);
  const entries = new Map<string, SpriteEntry>();
  const problems: FieldProblem[] = [];
  for (const [name, value] of all) {
    const entry = readEntry(name, value, picture);
    if (entry.ok) entries.set(name, entry.value);
    else problems.push(entry.problem);
  }
  return { ok: true, value: { entries, problems } };
}

function parse(json: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(json));
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function readEntry(name: string, value: unknown, picture: Size): Validated<SpriteEntry> {
  if (!isObject(value)) return invalid(name, 'must be an object');
  const { x, y, width, height, pixelRatio = 1, sdf = false } = value;
  if (!isWhole(x, 0, picture.width)) return invalid(`${name}.x`, `must be a whole number from 0 to ${picture.width}`);
  if (!isWhole(y, 0, picture.height)) return invalid(`${name}.y`, `must be a whole number from 0 to ${picture.height}`);
  if (!isWhole(width, 1, maxSidePx)) return invalid(`${name}.width`, `must be a whole number from 1 to ${maxSidePx}`);
  if (!isWhole(height, 1, maxSidePx)) return invalid(`${name}.height`, `must be a whole number from 1 to ${maxSidePx}`);
  if (x + width > picture.width)
    return invalid(`${name}.width`, `must end within the picture, ${picture.width} pixels wide`);
  if (y + height > picture.height)
    return invalid(`${name}.height`, `must end within the picture, ${picture.height} pixels high`);
  if (typeof pixelRatio !== 'number' || !(pixelRatio > 0 && pixelRatio <= maxPixelRatio)) {
    return invalid(`${name}.pixelRatio`, `must be a number above 0, at most ${maxPixelRatio}`);
  }
  if (typeof sdf !== 'boolean') return invalid(`${name}.sdf`, 'must be true or false');
  const { stretchX = null, stretchY = null, content = null } = value;
  if (!isSpans(stretchX, width)) return invalid(`${name}.stretchX`, spansRule(width));
  if (!isSpans(stretchY, height)) return invalid(`${name}.stretchY`, spansRule(height));
  if (!isContent(content, width, height))
    return invalid(`${name}.content`, 'must be the four edges of a part of the image');
  return { ok: true, value: { x, y, width, height, pixelRatio, sdf, stretchX, stretchY, content } };
}

const isWhole = (value: unknown, min: number, max: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;

const spansRule = (length: number): string => `must be at most ${maxSpans} pairs that ascend from 0 to ${length}`;

/** Returns whether spans are ascending and non-empty. */
function isSpans(value: unknown, length: number): value is readonly Span[] | null {
  if (value === null) return true;
  if (!Array.isArray(value) || value.length === 0 || value.length > maxSpans) return false;
  let last = 0;
  return value.every((span) => {
    if (!isNumbers(span, 2)) return false;
    const [from, to] = span as [number, number];
    const isNext = from >= last && to > from && to <= length;
    last = to;
    return isNext;
  });
}

function isContent(value: unknown, width: number, height: number): value is Content | null {
  if (value === null) return true;
  if (!isNumbers(value, 4)) return false;
  const [left, top, right, bottom] = value as [number, number, number, number];
  return left >= 0 && top >= 0 && right > left && bottom > top && right <= width && bottom <= height;
}

const isNumbers = (value: unknown, count: number): value is number[] =>
  Array.isArray(value) && value.length === count && value.every((each) => Number.isFinite(each));
