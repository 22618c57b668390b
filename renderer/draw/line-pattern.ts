/**
 * Draws lines with an image that repeats along them, as high as the line is wide, from the line's start.
 *
 * As in MapLibre GL JS, the image's upper edge lies at the right of the line's direction. A round has the image and one
 * more pixel on each side, from its repetition. It fills the line with its antialiased edges.
 */
import { DOMMatrix } from '@napi-rs/canvas';
import type { SpriteImage } from '../sprites/sprite-image.js';
import type { PixelBox } from '../types.js';
import type { Chunk } from './bucket.js';
import type { Pen } from './pen.js';
import { type Brush, paintSegments } from './segments.js';
import type { TileCanvas } from './tile-canvas.js';

/** How far an antialiased edge reaches beyond the line, in device pixels. */
const edgePx = 0.5;

/** Paints the lines of chunks that lie in the visible box, in tile units. */
export function paintPatternLine(
  canvas: TileCanvas,
  pen: Pen,
  image: SpriteImage,
  chunks: readonly Chunk[],
  visible: PixelBox,
): void {
  const { context, unitPx } = canvas;
  const bitmap = image.borderedBitmap();
  const pattern = context.createPattern(bitmap, 'repeat');
  const height = pen.width * unitPx + 2 * edgePx;
  /** Length of the image along the line, in device pixels. */
  const period = (image.width / image.height) * pen.wholeWidth * unitPx;
  const brush: Brush = {
    fillOf(_segment, travelled) {
      const matrix = [period / bitmap.width, 0, 0, -height / bitmap.height, -(travelled % period), height / 2];
      pattern.setTransform(new DOMMatrix(matrix));
      return pattern;
    },
  };
  paintSegments(canvas, pen, chunks, visible, () => brush);
}
