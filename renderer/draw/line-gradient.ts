/**
 * Draws lines in colours that change along them, from the start of each line of a tile to its end.
 *
 * Tiles do not say which share of a road they contain, so the colours begin again in each tile.
 */
import type { Color } from '@maplibre/maplibre-gl-style-spec';
import type { PixelBox } from '../types.js';
import type { Chunk } from './bucket.js';
import type { Pen } from './pen.js';
import { paintSegments } from './segments.js';
import type { TileCanvas } from './tile-canvas.js';

/** Number of colours along a whole line. */
const steps = 64;

/** Paints a line with a gradient. `colorAt` returns the colour at a share of the line's length, 0 to 1. */
export function paintGradientLine(
  canvas: TileCanvas,
  pen: Pen,
  colorAt: (share: number) => Color,
  chunks: readonly Chunk[],
  visible: PixelBox,
): void {
  const colors = Array.from({ length: steps + 1 }, (_, i) => colorAt(i / steps).toString());
  paintSegments(canvas, pen, chunks, visible, (lengthPx) => ({
    fillOf({ length }, travelled) {
      const gradient = canvas.context.createLinearGradient(0, 0, length, 0);
      const first = Math.floor((steps * travelled) / lengthPx);
      const last = Math.min(steps, Math.ceil((steps * (travelled + length)) / lengthPx));
      for (let i = first; i <= last; i++) {
        const at = ((i / steps) * lengthPx - travelled) / length;
        gradient.addColorStop(Math.max(0, Math.min(1, at)), colors[i]!);
      }
      return gradient;
    },
  }));
}
