/**
 * The pixels of a map while it is drawn. The drawing engine and our own painters change them in turn.
 *
 * The engine has its own copy of the pixels, from its first turn on. A painter that begins gets what the other has
 * drawn. This costs a copy of all pixels, so most of a map is drawn in few turns.
 */
import { type Canvas, createCanvas, ImageData, type SKRSContext2D } from '@napi-rs/canvas';
import { bytesOf, wordsOf } from '../pixels.js';
import { Bitmap } from '../raster/bitmap.js';
import type { PixelBox } from '../types.js';
import type { Target } from './plain.js';

/** The pixels of one map. */
export class Surface {
  private canvas: Canvas | undefined;
  /** Set while they are newer than those of the engine. */
  private own: Bitmap | undefined;

  /** Creates transparent pixels. Sizes are device pixels. */
  constructor(
    readonly width: number,
    readonly height: number,
  ) {}

  /** The drawing engine, which has all pixels. It must not be kept while `pixels` are changed. */
  get context(): SKRSContext2D {
    const { engine } = this;
    if (this.own) {
      engine.putImageData(new ImageData(bytesOf(this.own.pixels), this.width, this.height), 0, 0);
      this.release();
    }
    return engine;
  }

  /** Whatever the engine drew last. */
  private get engine(): SKRSContext2D {
    this.canvas ??= createCanvas(this.width, this.height);
    return this.canvas.getContext('2d');
  }

  /** All pixels, row by row: red, green, blue and opacity in the order of bytes. */
  get pixels(): Uint32Array {
    return this.bitmap.pixels;
  }

  /** All pixels, for our own painters. */
  get bitmap(): Bitmap {
    if (this.own) return this.own;
    const pixels = this.replacePixels();
    if (this.canvas) pixels.set(wordsOf(this.canvas.data()));
    else pixels.fill(0);
    return this.own!;
  }

  /** The box of all pixels. */
  get area(): PixelBox {
    return { minX: 0, minY: 0, maxX: this.width, maxY: this.height };
  }

  /** All pixels as a target. Its unit is the CSS pixel at this scale. */
  target(scale: number): Target {
    const { bitmap, area } = this;
    return { picture: { bitmap, area }, unitPx: scale, left: 0, top: 0 };
  }

  /** Returns all pixels without reading those of the engine, which are to be replaced. Their content is undefined. */
  replacePixels(): Uint32Array {
    this.own ??= new Bitmap(this.width, this.height);
    return this.own.pixels;
  }

  /** Returns all pixels, which the caller closes. The surface must not be used any more. */
  takeBitmap(): Bitmap {
    const { bitmap } = this;
    this.own = undefined;
    return bitmap;
  }

  private release(): void {
    this.own?.close();
    this.own = undefined;
  }

  /**
   * Lets the drawing engine draw in boxes of whole device pixels, and costs a copy of these boxes only. What is drawn
   * beside them may be lost. It is not clipped, because the engine smooths the edges of clipped shapes differently.
   */
  drawIn(boxes: readonly PixelBox[], draw: (context: SKRSContext2D) => void): void {
    const seen = boxes
      .map((box) => this.clipped(box))
      .filter(({ minX, minY, maxX, maxY }) => minX < maxX && minY < maxY);
    if (seen.length === 0) return;
    const { engine, own } = this;
    if (own) {
      for (const box of seen) {
        const { minX, minY, maxX, maxY } = box;
        engine.putImageData(new ImageData(bytesOf(this.box(box)), maxX - minX, maxY - minY), minX, minY);
      }
    }
    engine.save();
    draw(engine);
    engine.restore();
    if (!own) return;
    for (const box of seen) {
      const { minX, minY, maxX, maxY } = box;
      this.setBox(box, wordsOf(engine.getImageData(minX, minY, maxX - minX, maxY - minY).data));
    }
  }

  /** Returns a copy of the pixels of a box, which lies in the picture. */
  box({ minX, minY, maxX, maxY }: PixelBox): Uint32Array {
    const { pixels } = this;
    const width = maxX - minX;
    const copy = new Uint32Array(width * (maxY - minY));
    for (let y = minY; y < maxY; y++) {
      const from = y * this.width + minX;
      copy.set(pixels.subarray(from, from + width), (y - minY) * width);
    }
    return copy;
  }

  /** Replaces the pixels of a box by those of the same place in a picture of this size. */
  copyFrom(picture: Uint32Array, { minX, minY, maxX, maxY }: PixelBox): void {
    const { pixels } = this;
    for (let y = minY; y < maxY; y++) {
      const from = y * this.width + minX;
      pixels.set(picture.subarray(from, from + maxX - minX), from);
    }
  }

  /** Replaces the pixels of a box, which lies in the picture. */
  setBox({ minX, minY, maxX, maxY }: PixelBox, pixels: Uint32Array): void {
    const all = this.pixels;
    const width = maxX - minX;
    for (let y = minY; y < maxY; y++) {
      const from = (y - minY) * width;
      all.set(pixels.subarray(from, from + width), y * this.width + minX);
    }
  }

  private clipped({ minX, minY, maxX, maxY }: PixelBox): PixelBox {
    return {
      minX: Math.max(0, minX),
      minY: Math.max(0, minY),
      maxX: Math.min(this.width, maxX),
      maxY: Math.min(this.height, maxY),
    };
  }

  /** Returns the pixels as an image that the drawing engine can draw. */
  image(): Canvas {
    return this.context.canvas;
  }

  /** Frees the pixels, which have been read. Their arrays must not be used any more. */
  close(): void {
    this.release();
    if (this.canvas) this.canvas.width = 1;
  }
}
