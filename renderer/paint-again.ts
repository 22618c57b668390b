/**
 * Draws a map of a known view: it takes the picture with labels, and draws again only where overlays and labels differ.
 *
 * All pixels are those of a map that is drawn from the beginning. A test compares them.
 */
import { deviceArea, type Frame, inDevice } from './draw/frame.js';
import type { Surface } from './draw/surface.js';
import type { Encoded } from './encode.js';
import type { KnownView, Labelled } from './known-views.js';
import { drawLabels, drawnBox, drawnKey } from './labels/draw.js';
import type { PlacedLabel } from './labels/label.js';
import { countChanged, countColors, kept, pixelsIn, putPixels } from './png/colors.js';
import { encodeCounted } from './png/indexed-png.js';
import { overlaps, union } from './tiles/coordinates.js';
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
  paintBelow(surface: Surface): void;
  /** Boxes that contain all markers and the attribution, in CSS pixels of the image. */
  readonly above: readonly PixelBox[];
  /** Paints markers and the attribution, above labels. */
  paintAbove(surface: Surface): void;
}

/** Draws overlays and labels on the ground. */
export function paintOnGround(frame: Frame, labels: readonly PlacedLabel[], overlays: Overlays | null): void {
  overlays?.paintBelow(frame.surface);
  drawLabels(frame.surface, frame.view.scale, labels);
  overlays?.paintAbove(frame.surface);
}

/** Draws the ground with labels as maps without markers, geofences and paths have them, and keeps the picture. */
function drawLabelled(frame: Frame, ground: Uint32Array, labels: readonly PlacedLabel[]): Labelled | null {
  frame.surface.replacePixels().set(ground);
  drawLabels(frame.surface, frame.view.scale, labels);
  const picture = countColors(frame.surface.bitmap);
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

function isSmallPart(boxes: readonly PixelBox[], { surface }: Frame): boolean {
  const pixels = boxes.reduce((sum, box) => sum + (box.maxX - box.minX) * (box.maxY - box.minY), 0);
  return boxes.length <= maxChangedBoxes && pixels <= maxChangedShare * surface.width * surface.height;
}

/** A map of a known view, of which only a part is drawn. */
interface Redraw {
  readonly ground: Uint32Array;
  readonly labelled: Labelled;
  /** Where the map differs below its markers, in device pixels. */
  readonly boxes: readonly PixelBox[];
}

/**
 * Returns where a map differs from the same view without overlays, below its markers. It does near geofences and paths,
 * and near labels that give way to markers. The first call for a view draws on the frame what is kept of it. Undefined
 * when the map differs nearly everywhere, has too many colours, or is not known.
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
  const boxes = disjoint(inDevice(frame, [...(overlays?.below ?? []), ...[...gone, ...come].map(([, box]) => box)]));
  return isSmallPart(boxes, frame) ? { ground, labelled, boxes } : undefined;
}

/** Returns boxes that contain the given ones. None overlaps another, so labels are blended once. */
function disjoint(boxes: readonly PixelBox[]): PixelBox[] {
  const apart: PixelBox[] = [];
  for (const box of boxes) {
    let joined = box;
    for (let i = apart.findIndex((other) => overlaps(other, joined)); i >= 0; ) {
      joined = union(joined, apart.splice(i, 1)[0]!);
      i = apart.findIndex((other) => overlaps(other, joined));
    }
    apart.push(joined);
  }
  return apart;
}

/** Draws ground, lower overlays and labels again in the boxes. */
function paintAgain(
  frame: Frame,
  { ground, boxes }: Redraw,
  labels: readonly PlacedLabel[],
  overlays: Overlays | null,
): void {
  if (boxes.length === 0) return;
  const { surface, view } = frame;
  for (const box of boxes) surface.copyFrom(ground, box);
  overlays?.paintBelow(surface);
  const near = labels.filter((label) => {
    const area = deviceArea(frame, drawnBox(label));
    return boxes.some((box) => overlaps(box, area));
  });
  drawLabels(surface, view.scale, near, boxes);
}

/** Draws the whole map. */
export function paintWhole(
  frame: Frame,
  redraw: Redraw,
  labels: readonly PlacedLabel[],
  overlays: Overlays | null,
): void {
  putPixels(redraw.labelled.picture, frame.surface.replacePixels());
  paintAgain(frame, redraw, labels, overlays);
  overlays?.paintAbove(frame.surface);
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
  const { surface } = frame;
  const { boxes, labelled } = redraw;
  const above = inDevice(frame, overlays?.above ?? []);
  const changed = [...boxes, ...above];
  if (!isSmallPart(changed, frame)) return null;
  surface.replacePixels();
  for (const box of above) surface.setBox(box, pixelsIn(labelled.picture, surface.width, box));
  paintAgain(frame, redraw, labels, overlays);
  overlays?.paintAbove(surface);
  const counted = countChanged(surface.bitmap, labelled.picture, changed);
  const encoding = counted && encodeCounted(surface.bitmap, counted);
  return encoding?.then((bytes) => ({ bytes, contentType: 'image/png' as const })) ?? null;
}
