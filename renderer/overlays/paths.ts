/** Draws paths: the border first, then the stroke. */
import { Path2D, type SKRSContext2D } from '@napi-rs/canvas';
import type { PathOverlay, PixelBox, Viewport } from '../types.js';
import type { Margins } from '../view/fit.js';
import { cssColor } from './color.js';
import { boxAround, linePath } from './lines.js';

/** Distance from the line's centre to its border's edge, in CSS pixels. */
const reachPx = ({ width, borderWidth }: PathOverlay): number => width / 2 + borderWidth;

/** Returns how far a path reaches beyond its positions. */
export function pathMargins(path: PathOverlay): Margins {
  const reach = reachPx(path);
  return { left: reach, right: reach, top: reach, bottom: reach };
}

/** A path in CSS pixels of the image. */
export interface PathShape {
  readonly path: PathOverlay;
  readonly line: Path2D;
  /** Where it is drawn. */
  readonly box: PixelBox;
}

export function pathShape(view: Viewport, path: PathOverlay): PathShape {
  const line = new Path2D(linePath(view, path.locations, reachPx(path)));
  return { path, line, box: boxAround(line, reachPx(path)) };
}

/** Draws the paths in the order of the request. The context's unit is the CSS pixel. */
export function drawPaths(context: SKRSContext2D, shapes: readonly PathShape[]): void {
  context.save();
  context.lineCap = 'round';
  context.lineJoin = 'round';
  for (const { path, line } of shapes) {
    if (path.borderWidth > 0) {
      context.strokeStyle = cssColor(path.border);
      context.lineWidth = 2 * reachPx(path);
      context.stroke(line);
    }
    context.strokeStyle = cssColor(path.stroke);
    context.lineWidth = path.width;
    context.stroke(line);
  }
  context.restore();
}
