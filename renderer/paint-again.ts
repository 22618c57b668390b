/**
 * Draws a map of a known view: it takes the picture with labels, and draws again only where overlays and labels differ.
 *
 * All pixels are those of a map that is drawn from the beginning. A test compares them.
 */
import { deviceArea, type Frame } from './draw/frame.js';
import { overlaps } from './draw/tile-canvas.js';
import type { Encoded } from './encode.js';
import { type KnownView, type Labelled, type Pixels, putPicture, putPixels } from './known-views.js';
import { drawLabels, drawnBox, drawnKey } from './labels/draw.js';
import type { PlacedLabel } from './labels/label.js';
import { encodeCounted } from './png/indexed-png.js';
import { countChanged, countColors, kept, wordsOf } from './png/palette.js';
import type { PixelBox } from './types.js';

/** Overlays of a map. */
export interface Overlays {
  /** Boxes that labels must not overlap. */
  readonly boxes: readonly PixelBox[];
  /** Those of them that all maps of the view have: the attribution. */
  readonly shared: readonly PixelBox[];
  /** Boxes that contain all geofences and paths, in CSS pixels of the image. */
  readonly below: readonly PixelBox[];
  /** Paints geofences and paths, below labels, so that names stay readable. */
  paintBelow(frame: Frame): void;
  /** Boxes that contain all markers and the attribution, in CSS pixels of the image. */
  readonly above: readonly PixelBox[];
  /** Paints markers and the attribution, above labels. */
  paintAbove(frame: Frame): void;
}

/** Draws the ground with labels as maps without markers, geofences and paths have them, and keeps the picture. */
function drawLabelled(frame: Frame, ground: Pixels, labels: readonly PlacedLabel[]): Labelled | null {
  putPixels(frame, ground);
  drawLabels(frame.context, frame.view.scale, labels);
  const picture = countColors(wordsOf(frame.canvas.data()));
  return picture && { picture: kept(picture), labels: drawnBoxes(labels) };
}

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

/** Limits the boxes that are drawn again, and their share of the image. Beyond it everything is drawn at once. */
const maxChangedBoxes = 64;
const maxChangedShare = 1 / 2;

function isSmallPart(boxes: readonly PixelBox[], { canvas }: Frame): boolean {
  const pixels = boxes.reduce((sum, box) => sum + (box.maxX - box.minX) * (box.maxY - box.minY), 0);
  return boxes.length <= maxChangedBoxes && pixels <= maxChangedShare * canvas.width * canvas.height;
}

/** A map of a known view, of which only a part is drawn. */
export interface Redraw {
  readonly ground: Pixels;
  readonly labelled: Labelled;
  /** Where the map differs below its markers, in device pixels. */
  readonly boxes: readonly PixelBox[];
}

/**
 * Returns where a map differs from the same view without overlays, below its markers: near geofences and paths, and
 * near labels that give way to markers. The first call for a view draws on the frame what is kept of it. Undefined when
 * the map differs nearly everywhere, has too many colours, or is not known.
 */
export function redrawOf(
  frame: Frame,
  known: KnownView,
  labels: readonly PlacedLabel[],
  overlays: Overlays | null,
): Redraw | undefined {
  const { ground, prepared } = known;
  if (!ground) return undefined;
  if (known.labelled === undefined)
    known.labelled = drawLabelled(frame, ground, prepared?.place(overlays?.shared ?? []) ?? []);
  const { labelled } = known;
  if (!labelled) return undefined;
  const now = drawnBoxes(labels);
  const gone = [...labelled.labels].filter(([key]) => !now.has(key));
  const come = [...now].filter(([key]) => !labelled.labels.has(key));
  const boxes = inDevice(frame, [...(overlays?.below ?? []), ...[...gone, ...come].map(([, box]) => box)]);
  return isSmallPart(boxes, frame) ? { ground, labelled, boxes } : undefined;
}

/** Returns the parts of boxes in the image, in device pixels. */
const inDevice = (frame: Pick<Frame, 'canvas' | 'view'>, boxes: readonly PixelBox[]): PixelBox[] =>
  boxes.map((box) => deviceArea(frame, box)).filter(({ minX, minY, maxX, maxY }) => minX < maxX && minY < maxY);

/** Draws ground, lower overlays and labels again in the boxes. */
function paintAgain(
  frame: Frame,
  { ground, boxes }: Redraw,
  labels: readonly PlacedLabel[],
  overlays: Overlays | null,
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

/** Draws the whole map. */
export function paintWhole(
  frame: Frame,
  redraw: Redraw,
  labels: readonly PlacedLabel[],
  overlays: Overlays | null,
): void {
  const { width, height } = frame.canvas;
  putPicture(frame, redraw.labelled.picture, { minX: 0, minY: 0, maxX: width, maxY: height });
  paintAgain(frame, redraw, labels, overlays);
  overlays?.paintAbove(frame);
}

/**
 * Draws only what differs from the known picture, and encodes the map as a PNG. Returns null when too much differs, and
 * when there are too many colours.
 */
export function encodeChanges(
  frame: Frame,
  redraw: Redraw,
  labels: readonly PlacedLabel[],
  overlays: Overlays | null,
): Promise<Encoded> | null {
  const { canvas, context } = frame;
  const { boxes, labelled } = redraw;
  const above = inDevice(frame, overlays?.above ?? []);
  const changed = [...boxes, ...above];
  if (!isSmallPart(changed, frame)) return null;
  for (const box of above) putPicture(frame, labelled.picture, box);
  paintAgain(frame, redraw, labels, overlays);
  overlays?.paintAbove(frame);
  const drawn = changed.map((box) => {
    const { minX, minY, maxX, maxY } = box;
    return { box, pixels: wordsOf(context.getImageData(minX, minY, maxX - minX, maxY - minY).data) };
  });
  const counted = countChanged(labelled.picture, canvas.width, drawn);
  const encoding = counted && encodeCounted(counted, canvas.width, canvas.height);
  return encoding?.then((bytes) => ({ bytes, contentType: 'image/png' as const })) ?? null;
}
