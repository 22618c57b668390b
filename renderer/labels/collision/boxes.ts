/** Builds axis-aligned collision boxes that cover rotated text. Pure. */
import type { PixelBox } from '../../types.js';

/** Height of a row of text, from the accents of capital letters to the descenders, in ems. */
export const rowHeightEm = 1.2;

/** Limits the boxes of a text. More boxes would cost more time than the precision is worth. */
const maxBoxes = 32;

/**
 * Returns boxes that together cover a rectangle rotated about its centre. Each box covers a part that is about as long
 * as it is high.
 */
export function turnedBoxes(x: number, y: number, width: number, height: number, angle: number): PixelBox[] {
  const cos = Math.cos(angle);
  const sin = Math.sin(angle);
  const isLevel = Math.abs(sin) < 1e-6 || Math.abs(cos) < 1e-6;
  const count = isLevel ? 1 : Math.max(1, Math.min(maxBoxes, Math.ceil(width / height)));
  const length = width / count;
  const halfWidth = (Math.abs(cos) * length + Math.abs(sin) * height) / 2;
  const halfHeight = (Math.abs(sin) * length + Math.abs(cos) * height) / 2;
  const boxes: PixelBox[] = [];
  for (let i = 0; i < count; i++) {
    const along = (i + 0.5) * length - width / 2;
    boxes.push(boxAround(x + along * cos, y + along * sin, halfWidth, halfHeight));
  }
  return boxes;
}

function boxAround(x: number, y: number, halfWidth: number, halfHeight: number): PixelBox {
  return { minX: x - halfWidth, minY: y - halfHeight, maxX: x + halfWidth, maxY: y + halfHeight };
}

/** Padding around a box, in CSS pixels. */
export interface Padding {
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly left: number;
}

/** Returns the same padding on all sides, in pixels. */
export const evenPadding = (px: number): Padding => ({ top: px, right: px, bottom: px, left: px });

/** Returns the box, enlarged on each side. */
export function padded({ minX, minY, maxX, maxY }: PixelBox, { top, right, bottom, left }: Padding): PixelBox {
  return { minX: minX - left, minY: minY - top, maxX: maxX + right, maxY: maxY + bottom };
}
