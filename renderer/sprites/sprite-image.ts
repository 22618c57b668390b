/** An image of a sprite, cut out of its picture when it is first drawn. */
import { type Canvas, createCanvas, ImageData } from '@napi-rs/canvas';
import type { SpriteEntry } from './sprite-index.js';
import type { StretchableLength } from './stretch.js';

/** A decoded picture with red, green, blue and opacity of each pixel. */
export interface SpritePicture {
  readonly pixels: Uint8Array;
  readonly width: number;
}

/**
 * Factor by which a repeating image is enlarged to keep its pixels crisp: the engine's filter reaches less than one of
 * them.
 */
const crispFactor = 3;
/** Maximum side of an image that is enlarged this way. Single pixels of larger ones do not matter. */
const maxCrispPixels = 65_536;

/** One image of a sprite. */
export class SpriteImage {
  private cut: ImageData | undefined;
  private drawn: Canvas | undefined;
  private crisp: ImageData | undefined;
  private bordered: ImageData | undefined;

  constructor(
    readonly name: string,
    private readonly picture: SpritePicture,
    private readonly entry: SpriteEntry,
  ) {}

  /** CSS pixels. */
  get width(): number {
    return this.entry.width / this.entry.pixelRatio;
  }

  /** Returns the height in CSS pixels. */
  get height(): number {
    return this.entry.height / this.entry.pixelRatio;
  }

  /** Returns the pixels of the image per CSS pixel. */
  get pixelRatio(): number {
    return this.entry.pixelRatio;
  }

  /** Returns whether the image is a signed distance field, which is drawn in a colour of the style. */
  get isSdf(): boolean {
    return this.entry.sdf;
  }

  /** Returns which columns stretch, and which may hold a text. */
  get columns(): StretchableLength {
    const { width, stretchX, content } = this.entry;
    return { length: width, spans: stretchX, content: content && [content[0], content[2]] };
  }

  /** Returns which rows stretch, and which may hold a text. */
  get rows(): StretchableLength {
    const { height, stretchY, content } = this.entry;
    return { length: height, spans: stretchY, content: content && [content[1], content[3]] };
  }

  /** Returns its pixels. */
  bitmap(): ImageData {
    this.cut ??= enlarged(this.picture, this.entry, 1);
    return this.cut;
  }

  /** Returns a canvas to draw once, at any size. */
  canvas(): Canvas {
    this.drawn ??= canvasOf(this.bitmap());
    return this.drawn;
  }

  /** Returns a canvas to repeat: {@link crispFactor} times as large, unless that is too large. */
  crispBitmap(): { readonly bitmap: ImageData; readonly factor: number } {
    if (this.entry.width * this.entry.height > maxCrispPixels) return { bitmap: this.bitmap(), factor: 1 };
    this.crisp ??= enlarged(this.picture, this.entry, crispFactor);
    return { bitmap: this.crisp, factor: crispFactor };
  }

  /** Returns its pixels, with one pixel of its neighbours on each side where the image repeats. */
  borderedBitmap(): ImageData {
    this.bordered ??= enlarged(this.picture, this.entry, 1, 1);
    return this.bordered;
  }
}

/** Returns a canvas of the same size with a copy of the pixels. */
export function canvasOf(bitmap: ImageData): Canvas {
  const canvas = createCanvas(bitmap.width, bitmap.height);
  canvas.getContext('2d').putImageData(bitmap, 0, 0);
  return canvas;
}

/** Returns the pixels, each `factor` times as large, with so many pixels of a repeated image around it. */
function enlarged({ pixels, width: pictureWidth }: SpritePicture, entry: SpriteEntry, factor: number, border = 0) {
  const width = (entry.width + 2 * border) * factor;
  const height = (entry.height + 2 * border) * factor;
  const copy = new Uint8ClampedArray(4 * width * height);
  for (let y = 0; y < height; y++) {
    const row = (entry.y + wrapped(Math.floor(y / factor) - border, entry.height)) * pictureWidth + entry.x;
    for (let x = 0; x < width; x++) {
      const from = 4 * (row + wrapped(Math.floor(x / factor) - border, entry.width));
      const to = 4 * (y * width + x);
      for (let channel = 0; channel < 4; channel++) copy[to + channel] = pixels[from + channel]!;
    }
  }
  return new ImageData(copy, width, height);
}

/** Returns an index from -1 to `length` as one of a row that repeats. */
const wrapped = (index: number, length: number): number => (index + length) % length;
