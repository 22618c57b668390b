/**
 * Which labels find room.
 *
 * Flows in: candidates, the most important first. Flows out: those that are set, each in the first of its ways that overlaps nothing set
 * before it, nothing that is to be kept free, and not the image's edge. Pure.
 */

import RBush from 'rbush';
import type { PixelBox } from '../types.js';
import { padded } from './boxes.js';
import type { Candidate, Overlap, PlacedLabel, Setting } from './label.js';

interface Obstacle extends PixelBox {
  /** Null for what no label may overlap. */
  readonly overlap: Overlap | null;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

export function placeLabels(candidates: readonly Candidate[], image: Size, keepFree: readonly PixelBox[]): PlacedLabel[] {
  const obstacles = new RBush<Obstacle>();
  obstacles.load(keepFree.map((box) => ({ ...box, overlap: null })));
  const repeats = new Repeats();
  const placed: PlacedLabel[] = [];
  for (const candidate of candidates) {
    const setting = findRoom(candidate, image, obstacles, repeats);
    if (!setting) continue;
    placed.push({ candidate, setting });
    repeats.add(candidate.text, setting);
    const { isObstacle, overlap, paddingPx } = candidate.rules;
    if (isObstacle) for (const box of setting.boxes) obstacles.insert({ ...padded(box, paddingPx), overlap });
  }
  return placed;
}

function findRoom(candidate: Candidate, image: Size, obstacles: RBush<Obstacle>, repeats: Repeats): Setting | undefined {
  const { rules, look, text } = candidate;
  for (const setting of candidate.settings()) {
    const fits =
      !repeats.isNear(text, setting, rules.minRepeatPx) &&
      setting.boxes.every((box) => isInside(padded(box, look.haloWidthPx), image)) &&
      !setting.boxes.some((box) => isTaken(padded(box, rules.paddingPx), rules.overlap, obstacles));
    if (fits) return setting;
  }
  return undefined;
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
    const [x, y] = middleOf(setting);
    return (this.places.get(text) ?? []).some(([otherX, otherY]) => Math.hypot(x - otherX, y - otherY) < distance);
  }

  add(text: string, setting: Setting): void {
    const places = this.places.get(text);
    if (places) places.push(middleOf(setting));
    else this.places.set(text, [middleOf(setting)]);
  }
}

function middleOf({ runs }: Setting): readonly [x: number, y: number] {
  const { x, y } = runs[runs.length >> 1]!;
  return [x, y];
}
