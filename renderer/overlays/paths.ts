/** Paths: a border below, the stroke upon it. */
import { Path2D, type SKRSContext2D } from '@napi-rs/canvas';
import type { PathOverlay, Viewport } from '../types.js';
import type { Margins } from '../view/fit.js';
import { cssColor } from './color.js';
import { linePath } from './lines.js';

/** CSS pixels from the line's middle to its border's edge. */
const reachPx = ({ width, borderWidth }: PathOverlay): number => width / 2 + borderWidth;

/** What a path takes beyond its positions. */
export function pathMargins(path: PathOverlay): Margins {
  const reach = reachPx(path);
  return { left: reach, right: reach, top: reach, bottom: reach };
}

/** In the order of the request; the context's unit is the CSS pixel. */
export function drawPaths(context: SKRSContext2D, view: Viewport, paths: readonly PathOverlay[]): void {
  context.save();
  context.lineCap = 'round';
  context.lineJoin = 'round';
  for (const path of paths) {
    const line = new Path2D(linePath(view, path.locations, reachPx(path)));
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
