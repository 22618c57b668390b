/**
 * Keeps the pixels and the label candidates of views that are drawn again, such as the map of one site with other
 * markers each time.
 *
 * The first map of a view keeps only its key, so that views which are drawn once cost nothing. The second keeps its
 * pixels and candidates, and the third uses them.
 */

import { type Canvas, ImageData } from '@napi-rs/canvas';
import { LRUCache } from 'lru-cache';
import type { Frame } from './draw/frame.js';
import type { PreparedLabels } from './labels/label.js';
import { type Counted, pixelsIn } from './png/palette.js';
import type { PixelBox } from './types.js';

/** Opaque pixels of a canvas. Kept as the drawing engine takes them, because making them costs a copy of all. */
export type Pixels = ImageData;

/** What the maps of one view have in common. */
export interface KnownView {
  /** Everything below overlays and labels. */
  ground?: Pixels;
  /** Null: it has too many colours. */
  labelled?: Labelled | null;
  /** Labels before they are placed. Undefined for maps without labels. */
  readonly prepared: PreparedLabels | undefined;
}

/** The ground with labels. */
export interface Labelled {
  readonly picture: Counted;
  /** Where each label is drawn, by what is drawn. */
  readonly labels: ReadonlyMap<string, PixelBox>;
}

/** Bytes of a pixel of the ground, and of its number in the ground with labels. */
const pixelBytes = 4 + 2;
/** Bytes of a candidate of streets with its placements, as measured. Those of the basemap take a quarter. */
const candidateBytes = 20 * 2 ** 10;
/** Bytes that the candidates of a view take together, because they keep the bytes of its tiles in memory. */
const tileBytes = 256 * 2 ** 10;
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

  /** Returns what is known of a view, from its third map on. */
  get(key: string): KnownView | undefined {
    return this.views.get(key);
  }

  /**
   * Notes a map of a view that is not known. Returns where to keep its pixels at the second map, and undefined at the
   * first, and when the view is too large to be kept.
   */
  add(key: string, { width, height }: Canvas, prepared: PreparedLabels | undefined): KnownView | undefined {
    const size = pixelBytes * width * height + (prepared ? tileBytes + candidateBytes * prepared.count : 0);
    if (size > maxShare * this.maxBytes) return undefined;
    if (!this.drawnOnce.delete(key)) {
      this.drawnOnce.set(key, true, { size });
      return undefined;
    }
    const view: KnownView = { prepared };
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
export function putPixels(frame: Frame, pixels: Pixels, box?: PixelBox): void {
  if (!box) {
    frame.context.putImageData(pixels, 0, 0);
    return;
  }
  const width = box.maxX - box.minX;
  const height = box.maxY - box.minY;
  // A copy of the box alone, because the drawing engine copies all pixels that it is given.
  const part = new Uint8ClampedArray(4 * width * height);
  const { data } = pixels;
  for (let y = 0; y < height; y++) {
    const start = 4 * ((box.minY + y) * pixels.width + box.minX);
    part.set(data.subarray(start, start + 4 * width), 4 * y * width);
  }
  putPart(frame, part, box);
}

/** Replaces the pixels of a box of the canvas by those of the same place in a picture of its size. */
export function putPicture(frame: Frame, picture: Counted, box: PixelBox): void {
  putPart(frame, new Uint8ClampedArray(pixelsIn(picture, frame.canvas.width, box).buffer), box);
}

/** `box` is not empty. */
function putPart({ context }: Frame, part: Uint8ClampedArray, { minX, minY, maxX, maxY }: PixelBox): void {
  context.putImageData(new ImageData(part, maxX - minX, maxY - minY), minX, minY);
}
