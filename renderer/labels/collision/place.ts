/**
 * Decides which labels are placed, and where.
 *
 * Input: candidates, the most important first. Output: placed labels. Each takes its first placement that stays inside
 * the image and collides with no earlier label and no reserved box. When only the text or only the icon fits, it is
 * placed alone if the other one is optional. Pure.
 */

import RBush from 'rbush';
import type { PixelBox } from '../../types.js';
import type { Candidate, CollisionRules, Overlap, PlacedLabel, Placement } from '../label.js';
import { evenPadding, padded } from './boxes.js';

interface Obstacle extends PixelBox {
  /** Null for reserved boxes, which no label may overlap. */
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
  const reserved = reservedBoxes(candidates, image);
  const repeats = new Repeats();
  const placed: PlacedLabel[] = [];
  for (const candidate of candidates) {
    const placement = findPlacement(candidate, image, obstacles, reserved, repeats);
    if (!placement) continue;
    placed.push({ candidate, placement });
    repeats.add(candidate.text, placement);
    addObstacles(obstacles, placement.boxes, candidate.textRules);
    if (placement.icon && candidate.iconRules) addObstacles(obstacles, placement.icon.boxes, candidate.iconRules);
  }
  return placed;
}

/** Returns the space that candidates reserve. Where it overlaps, the most important of them has it. */
function reservedBoxes(candidates: readonly Candidate[], image: Size): RBush<PixelBox> {
  const reserved = new RBush<PixelBox>();
  for (const candidate of candidates) {
    if (!candidate.reservesSpace) continue;
    const [first] = candidate.placements();
    if (!first) continue;
    // A landmark's text gives way to its icon alone. A text alone needs its padding too.
    const boxes = first.icon
      ? [...first.boxes, ...first.icon.boxes]
      : first.boxes.map((box) => padded(box, candidate.textRules.padding));
    if (boxes.some((box) => reserved.collides(box) || !isInside(box, image))) continue;
    for (const box of boxes) reserved.insert(box);
  }
  return reserved;
}

function addObstacles(
  obstacles: RBush<Obstacle>,
  boxes: readonly PixelBox[],
  { isObstacle, overlap, padding }: CollisionRules,
): void {
  if (isObstacle) for (const box of boxes) obstacles.insert({ ...padded(box, padding), overlap });
}

function findPlacement(
  candidate: Candidate,
  image: Size,
  obstacles: RBush<Obstacle>,
  reserved: RBush<PixelBox>,
  repeats: Repeats,
): Placement | undefined {
  const { textRules, iconRules, textStyle, text } = candidate;
  const halo = evenPadding(textStyle?.haloWidthPx ?? 0);
  let alone: Placement | undefined;
  let crowding: Placement | undefined;
  for (const placement of candidate.placements()) {
    const { runs, boxes, icon } = placement;
    const textFits =
      !repeats.isNear(text, placement, textRules.minRepeatPx) &&
      boxes.every((box) => isInside(padded(box, halo), image)) &&
      !collidesAny(boxes, textRules, obstacles);
    if (!icon || !iconRules) {
      if (!textFits) continue;
      if (!candidate.leavesSpace || !boxes.some((box) => reserved.collides(padded(box, textRules.padding))))
        return placement;
      if (candidate.leavesSpace === 'preferably') crowding ??= placement;
      continue;
    }
    const iconFits = icon.boxes.every((box) => isInside(box, image)) && !collidesAny(icon.boxes, iconRules, obstacles);
    if (textFits && iconFits) return placement;
    if (textFits && runs.length > 0 && iconRules.isOptional) alone ??= { runs, boxes };
    if (iconFits && textRules.isOptional) alone ??= { runs: [], boxes: [], icon };
  }
  return alone ?? crowding;
}

function collidesAny(
  boxes: readonly PixelBox[],
  { padding, overlap }: CollisionRules,
  obstacles: RBush<Obstacle>,
): boolean {
  return boxes.some((box) => collides(padded(box, padding), overlap, obstacles));
}

function isInside({ minX, minY, maxX, maxY }: PixelBox, { width, height }: Size): boolean {
  return minX >= 0 && minY >= 0 && maxX <= width && maxY <= height;
}

function collides(box: PixelBox, overlap: Overlap, obstacles: RBush<Obstacle>): boolean {
  if (overlap === 'never') return obstacles.collides(box);
  return obstacles.search(box).some((other) => {
    return other.overlap === null || (overlap === 'cooperative' && other.overlap === 'never');
  });
}

/** Remembers where each text was placed. */
class Repeats {
  private readonly places = new Map<string, (readonly [x: number, y: number])[]>();

  isNear(text: string, placement: Placement, distance: number): boolean {
    const middle = middleOf(placement);
    if (middle === null) return false;
    const [x, y] = middle;
    return (this.places.get(text) ?? []).some(([otherX, otherY]) => Math.hypot(x - otherX, y - otherY) < distance);
  }

  add(text: string, placement: Placement): void {
    const middle = middleOf(placement);
    if (middle === null) return;
    const places = this.places.get(text);
    if (places) places.push(middle);
    else this.places.set(text, [middle]);
  }
}

/** Returns the position of the middle run; null without a text. */
function middleOf({ runs }: Placement): readonly [x: number, y: number] | null {
  const run = runs[runs.length >> 1];
  return run ? [run.x, run.y] : null;
}
