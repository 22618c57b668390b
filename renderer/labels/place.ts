/**
 * Which labels find room.
 *
 * Flows in: candidates, the most important first. Flows out: those that are set, each in the first of its ways that
 * overlaps nothing set before it, nothing that is to be kept free, and not the image's edge. Where there is room only
 * for the text or the icon of one, that is set alone if the other is optional. Pure.
 */

import RBush from 'rbush';
import type { PixelBox } from '../types.js';
import { evenPadding, padded } from './boxes.js';
import type { Candidate, Overlap, PlacedLabel, Room, Setting } from './label.js';

interface Obstacle extends PixelBox {
  /** Null for what no label may overlap. */
  readonly overlap: Overlap | null;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

export function placeLabels(
  candidates: readonly Candidate[],
  image: Size,
  keepFree: readonly PixelBox[],
): PlacedLabel[] {
  const obstacles = new RBush<Obstacle>();
  obstacles.load(keepFree.map((box) => ({ ...box, overlap: null })));
  const repeats = new Repeats();
  const placed: PlacedLabel[] = [];
  for (const candidate of candidates) {
    const setting = findRoom(candidate, image, obstacles, repeats);
    if (!setting) continue;
    placed.push({ candidate, setting });
    repeats.add(candidate.text, setting);
    addObstacles(obstacles, setting.boxes, candidate.rules);
    if (setting.icon && candidate.iconRoom) addObstacles(obstacles, setting.icon.boxes, candidate.iconRoom);
  }
  return placed;
}

function addObstacles(
  obstacles: RBush<Obstacle>,
  boxes: readonly PixelBox[],
  { isObstacle, overlap, padding }: Room,
): void {
  if (isObstacle) for (const box of boxes) obstacles.insert({ ...padded(box, padding), overlap });
}

function findRoom(
  candidate: Candidate,
  image: Size,
  obstacles: RBush<Obstacle>,
  repeats: Repeats,
): Setting | undefined {
  const { rules, iconRoom, look, text } = candidate;
  const halo = evenPadding(look?.haloWidthPx ?? 0);
  let alone: Setting | undefined;
  for (const setting of candidate.settings()) {
    const { runs, boxes, icon } = setting;
    const textFits =
      !repeats.isNear(text, setting, rules.minRepeatPx) &&
      boxes.every((box) => isInside(padded(box, halo), image)) &&
      !isAnyTaken(boxes, rules, obstacles);
    if (!icon || !iconRoom) {
      if (textFits) return setting;
      continue;
    }
    const iconFits = icon.boxes.every((box) => isInside(box, image)) && !isAnyTaken(icon.boxes, iconRoom, obstacles);
    if (textFits && iconFits) return setting;
    if (textFits && runs.length > 0 && iconRoom.isOptional) alone ??= { runs, boxes };
    if (iconFits && rules.isOptional) alone ??= { runs: [], boxes: [], icon };
  }
  return alone;
}

function isAnyTaken(boxes: readonly PixelBox[], { padding, overlap }: Room, obstacles: RBush<Obstacle>): boolean {
  return boxes.some((box) => isTaken(padded(box, padding), overlap, obstacles));
}

function isInside({ minX, minY, maxX, maxY }: PixelBox, { width, height }: Size): boolean {
  return minX >= 0 && minY >= 0 && maxX <= width && maxY <= height;
}

function isTaken(box: PixelBox, overlap: Overlap, obstacles: RBush<Obstacle>): boolean {
  if (overlap === 'never') return obstacles.collides(box);
  return obstacles.search(box).some((other) => {
    return other.overlap === null || (overlap === 'cooperative' && other.overlap === 'never');
  });
}

/** Where texts are set already. */
class Repeats {
  private readonly places = new Map<string, (readonly [x: number, y: number])[]>();

  isNear(text: string, setting: Setting, distance: number): boolean {
    const middle = middleOf(setting);
    if (middle === null) return false;
    const [x, y] = middle;
    return (this.places.get(text) ?? []).some(([otherX, otherY]) => Math.hypot(x - otherX, y - otherY) < distance);
  }

  add(text: string, setting: Setting): void {
    const middle = middleOf(setting);
    if (middle === null) return;
    const places = this.places.get(text);
    if (places) places.push(middle);
    else this.places.set(text, [middle]);
  }
}

/** Null without a text. */
function middleOf({ runs }: Setting): readonly [x: number, y: number] | null {
  const run = runs[runs.length >> 1];
  return run ? [run.x, run.y] : null;
}
