/** Draws a layer on a canvas of its own, and that canvas on the map: with one opacity, however its parts overlap. */

import { type Canvas, createCanvas } from '@napi-rs/canvas';
import type { Frame } from './frame.js';

export interface Finish {
  /** 0 to 1. */
  readonly opacity: number;
  /** Standard deviation of the blur, in device pixels. */
  readonly blurPx: number;
}

/** A blur below this is not visible. Device pixels. */
const minBlurPx = 0.3;

/** The second canvas of a frame, kept for its other layers. */
const canvases = new WeakMap<Canvas, Canvas>();

/** Draws with `paint`, directly if the layer has neither opacity nor blur. */
export function paintAsOne(frame: Frame, { opacity, blurPx }: Finish, paint: (frame: Frame) => void): void {
  if (opacity === 0) return;
  const isBlurred = blurPx >= minBlurPx;
  if (opacity === 1 && !isBlurred) {
    paint(frame);
    return;
  }
  const canvas = emptyCanvas(frame.canvas);
  paint({ ...frame, canvas, context: canvas.getContext('2d') });
  const { context } = frame;
  context.save();
  context.resetTransform();
  context.globalAlpha = opacity;
  if (isBlurred) context.filter = `blur(${blurPx}px)`;
  context.drawImage(canvas, 0, 0);
  context.restore();
}

function emptyCanvas(of: Canvas): Canvas {
  const kept = canvases.get(of);
  if (!kept) {
    const canvas = createCanvas(of.width, of.height);
    canvases.set(of, canvas);
    return canvas;
  }
  const context = kept.getContext('2d');
  context.resetTransform();
  context.clearRect(0, 0, kept.width, kept.height);
  return kept;
}
