/** Draws lines with an image that repeats along them, as high as the line is wide, from the line's start. */
import { DOMMatrix } from '@napi-rs/canvas';
import type { SpriteImage } from '../sprites/sprite-image.js';
import type { PixelBox } from '../types.js';
import type { Chunk } from './bucket.js';
import type { Pen } from './pen.js';
import { type Brush, paintSegments } from './segments.js';
import type { TileCanvas } from './tile-canvas.js';

/** Paints the lines of chunks that lie in the visible box, in tile units. */
export function paintPatternLine(
  canvas: TileCanvas,
  pen: Pen,
  image: SpriteImage,
  chunks: readonly Chunk[],
  visible: PixelBox,
): void {
  const { context, unitPx } = canvas;
  const bitmap = image.bitmap();
  const pattern = context.createPattern(bitmap, 'repeat');
  const width = pen.width * unitPx;
  /** Length of the image along the line, in device pixels. */
  const period = (bitmap.width / bitmap.height) * pen.wholeWidth * unitPx;
  const brush: Brush = {
    fillOf(_segment, travelled) {
      const matrix = [period / bitmap.width, 0, 0, width / bitmap.height, -(travelled % period), -width / 2];
      pattern.setTransform(new DOMMatrix(matrix));
      return pattern;
    },
  };
  paintSegments(canvas, pen, chunks, visible, () => brush);
}
