/** Draws a layer on a surface of its own, and that surface on the map: with one opacity, however its parts overlap. */
import type { Frame } from './frame.js';
import { Surface } from './surface.js';

/** What is done to a layer once all of it is drawn. */
export interface Finish {
  /** 0 to 1. */
  readonly opacity: number;
  /** Standard deviation of the blur, in device pixels. */
  readonly blurPx: number;
}

/** A blur below this is not visible. Device pixels. */
const minBlurPx = 0.3;

/** The second surface of a frame, kept for its other layers. */
const surfaces = new WeakMap<Surface, Surface>();

/** Draws with `paint`, directly if the layer has neither opacity nor blur: on the opaque pixels of the map. */
export function paintAsOne(
  frame: Frame,
  { opacity, blurPx }: Finish,
  paint: (frame: Frame, isOpaque: boolean) => void,
): void {
  if (opacity === 0) return;
  const isBlurred = blurPx >= minBlurPx;
  if (opacity === 1 && !isBlurred) {
    paint(frame, true);
    return;
  }
  const surface = emptySurface(frame.surface);
  paint({ ...frame, surface }, false);
  const { context } = frame.surface;
  context.save();
  context.resetTransform();
  context.globalAlpha = opacity;
  if (isBlurred) context.filter = `blur(${blurPx}px)`;
  context.drawImage(surface.image(), 0, 0);
  context.restore();
}

function emptySurface(of: Surface): Surface {
  const kept = surfaces.get(of);
  if (!kept) {
    const surface = new Surface(of.width, of.height);
    surfaces.set(of, surface);
    return surface;
  }
  const { context } = kept;
  context.resetTransform();
  context.clearRect(0, 0, kept.width, kept.height);
  return kept;
}
