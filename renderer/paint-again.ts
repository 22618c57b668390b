/**
 * Draws a map of a known view: it takes the picture with labels, and draws again only where overlays and labels differ.
 *
 * All pixels are those of a map that is drawn from the beginning. A test compares them.
 */
import { deviceArea, type Frame } from './draw/frame.js';
import { overlaps } from './draw/tile-canvas.js';
import { type Labelled, type Pixels, pixelsOf, putPixels } from './known-views.js';
import { drawLabels, drawnBox, drawnKey } from './labels/draw.js';
import type { PlacedLabel } from './labels/label.js';
import type { PixelBox } from './types.js';

/** Overlays below labels, so that names stay readable: geofences and paths. */
export interface LowerOverlays {
  /** Boxes that contain all of them, in CSS pixels of the image. */
  readonly below: readonly PixelBox[];
  paintBelow(frame: Frame): void;
}

/** Returns what is kept of a map with labels and without overlays. */
export const labelledOf = ({ canvas }: Frame, labels: readonly PlacedLabel[]): Labelled => ({
  pixels: pixelsOf(canvas),
  labels: drawnBoxes(labels),
});

function drawnBoxes(labels: readonly PlacedLabel[]): Map<string, PixelBox> {
  const boxes = new Map<string, PixelBox>();
  for (const label of labels) {
    let key = drawnKey(label);
    // Labels that may overlap may be drawn twice in one place.
    while (boxes.has(key)) key += ' again';
    boxes.set(key, drawnBox(label));
  }
  return boxes;
}

/** Limits the boxes that are drawn again, and their share of the image. Beyond it all labels are drawn at once. */
const maxChangedBoxes = 64;
const maxChangedShare = 1 / 2;

/**
 * Returns where a map differs from the same view without overlays, below its markers: near other overlays, and near
 * labels that were not there or are not there any more. Undefined when it differs nearly everywhere.
 */
export function changedBoxes(
  { canvas, view }: Frame,
  before: Labelled,
  labels: readonly PlacedLabel[],
  overlays: LowerOverlays | null,
): PixelBox[] | undefined {
  const now = drawnBoxes(labels);
  const gone = [...before.labels].filter(([key]) => !now.has(key));
  const come = [...now].filter(([key]) => !before.labels.has(key));
  const boxes = [...(overlays?.below ?? []), ...[...gone, ...come].map(([, box]) => box)];
  const seen = boxes
    .map((box) => deviceArea({ canvas, view }, box))
    .filter(({ minX, minY, maxX, maxY }) => minX < maxX && minY < maxY);
  const pixels = seen.reduce((sum, box) => sum + (box.maxX - box.minX) * (box.maxY - box.minY), 0);
  return seen.length <= maxChangedBoxes && pixels <= maxChangedShare * canvas.width * canvas.height ? seen : undefined;
}

/** Draws ground, lower overlays and labels again in boxes of device pixels. */
export function paintAgain(
  frame: Frame,
  boxes: readonly PixelBox[],
  ground: Pixels,
  labels: readonly PlacedLabel[],
  overlays: LowerOverlays | null,
): void {
  if (boxes.length === 0) return;
  const { context, view } = frame;
  for (const box of boxes) putPixels(frame, ground, box);
  overlays?.paintBelow(frame);
  context.save();
  context.resetTransform();
  context.beginPath();
  for (const { minX, minY, maxX, maxY } of boxes) context.rect(minX, minY, maxX - minX, maxY - minY);
  context.clip();
  const near = labels.filter((label) => {
    const area = deviceArea(frame, drawnBox(label));
    return boxes.some((box) => overlaps(box, area));
  });
  drawLabels(context, view.scale, near);
  context.restore();
}
