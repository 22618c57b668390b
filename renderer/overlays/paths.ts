/** Paints paths: the border first, then the stroke. */
import { strokePlain } from '../draw/plain.js';
import type { Surface } from '../draw/surface.js';
import type { LineList } from '../draw/vertices.js';
import { inkOf } from '../raster/ink.js';
import type { Color, PathOverlay, PixelBox, Viewport } from '../types.js';
import type { Margins } from '../view/fit.js';
import { boxAround, chainLines } from './lines.js';

/** Distance from the line's centre to its border's edge, in CSS pixels. */
const reachPx = ({ width, borderWidth }: PathOverlay): number => width / 2 + borderWidth;

/** Returns how far a path reaches beyond its positions. */
export function pathMargins(path: PathOverlay): Margins {
  const reach = reachPx(path);
  return { left: reach, right: reach, top: reach, bottom: reach };
}

/** A path in CSS pixels of the image. */
interface PathShape {
  readonly path: PathOverlay;
  readonly line: LineList;
  /** Where it is painted. */
  readonly box: PixelBox;
}

/** Returns the shape of a path in a view. */
export function pathShape(view: Viewport, path: PathOverlay): PathShape {
  const line = chainLines(view, path.locations, reachPx(path));
  return { path, line, box: boxAround(line, reachPx(path)) };
}

/** Paints the paths in the order of the request. */
export function paintPaths(surface: Surface, scale: number, shapes: readonly PathShape[]): void {
  const target = surface.target(scale);
  for (const { path, line } of shapes) {
    const stroke = (widthPx: number, [red, green, blue, alpha]: Color) => {
      const style = { widthPx: scale * widthPx, cap: 'round', join: 'round', miterLimit: 1 } as const;
      strokePlain(target, [line], style, inkOf(red, green, blue, alpha));
    };
    if (path.borderWidth > 0) stroke(2 * reachPx(path), path.border);
    stroke(path.width, path.stroke);
  }
}
