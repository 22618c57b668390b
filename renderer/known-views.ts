/**
 * Keeps the pixels of views that are drawn again, such as the map of one site with other markers each time.
 *
 * The first map of a view keeps only its key, so that views which are drawn once cost nothing. The second keeps its
 * pixels, and the third uses them.
 */

import { type Canvas, ImageData } from '@napi-rs/canvas';
import { LRUCache } from 'lru-cache';
import type { Frame } from './draw/frame.js';
import type { PixelBox } from './types.js';

/** Opaque pixels of a canvas. Kept as the drawing engine takes them, because making them costs a copy of all. */
export type Pixels = ImageData;

/** What the maps of one view have in common. */
export interface KnownView {
  /** Everything below overlays and labels. */
  ground?: Pixels;
  labelled?: Labelled;
}

/** The ground with labels. */
export interface Labelled {
  readonly pixels: Pixels;
  /** Where each label is drawn, by what is drawn. */
  readonly labels: ReadonlyMap<string, PixelBox>;
}

/** The ground, and the ground with labels. */
const pictures = 2;
/** A view may take this share of the memory. */
const maxShare = 1 / 2;

export class KnownViews {
  /**
   * With the sizes that the views would have. A view that returns after so many others would be evicted before its next
   * map.
   */
  private readonly drawnOnce: LRUCache<string, true>;
  private readonly views: LRUCache<string, KnownView>;

  /** Creates a cache of at most this many bytes. */
  constructor(private readonly maxBytes: number) {
    const maxSize = Math.max(1, maxBytes);
    this.drawnOnce = new LRUCache({ maxSize });
    this.views = new LRUCache({ maxSize });
  }

  /** Returns what is known of a view. Undefined at its first map, and when it is too large to be kept. */
  get(key: string, { width, height }: Canvas): KnownView | undefined {
    const known = this.views.get(key);
    if (known) return known;
    const size = pictures * 4 * width * height;
    if (size > maxShare * this.maxBytes) return undefined;
    if (!this.drawnOnce.delete(key)) {
      this.drawnOnce.set(key, true, { size });
      return undefined;
    }
    const view: KnownView = {};
    this.views.set(key, view, { size });
    return view;
  }
}

/** Returns a copy of a canvas's pixels. */
export function pixelsOf(canvas: Canvas): Pixels {
  const { buffer, byteOffset, length } = canvas.data();
  return new ImageData(new Uint8ClampedArray(buffer, byteOffset, length), canvas.width, canvas.height);
}

/** Replaces the pixels of the canvas by those of the same place in other pixels of its size: all, or those of a box. */
export function putPixels({ canvas, context }: Frame, pixels: Pixels, box?: PixelBox): void {
  if (!box) {
    context.putImageData(pixels, 0, 0);
    return;
  }
  const width = box.maxX - box.minX;
  const height = box.maxY - box.minY;
  if (width <= 0 || height <= 0) return;
  // A copy of the box alone, because the drawing engine copies all pixels that it is given.
  const part = new Uint8ClampedArray(4 * width * height);
  const { data } = pixels;
  for (let y = 0; y < height; y++) {
    const start = 4 * ((box.minY + y) * canvas.width + box.minX);
    part.set(data.subarray(start, start + 4 * width), 4 * y * width);
  }
  context.putImageData(new ImageData(part, width, height), box.minX, box.minY);
}
