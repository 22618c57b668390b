/** Small pictures that the drawing engine draws once, and that are blended wherever they are needed. */
import { createCanvas, type SKRSContext2D } from '@napi-rs/canvas';
import { LRUCache } from 'lru-cache';
import { wordsOf } from '../pixels.js';
import type { PixelBox } from '../types.js';
import type { Surface } from './surface.js';

/** A small picture that is drawn once and blended wherever it is needed. */
export interface Stamp {
  /** Row by row. Channels are multiplied by opacity. */
  readonly pixels: Uint32Array;
  readonly width: number;
  readonly height: number;
}

/** Returns what is drawn on a transparent canvas. The context's unit is the device pixel. */
export function stampOf(width: number, height: number, draw: (context: SKRSContext2D) => void): Stamp {
  const canvas = createCanvas(width, height);
  draw(canvas.getContext('2d'));
  return { pixels: wordsOf(canvas.data()), width, height };
}

/** Keeps the stamps that were used last. */
export class StampStore {
  private readonly stamps: LRUCache<string, Stamp>;

  /** Creates a store of at most this many bytes of pixels. */
  constructor(maxBytes: number) {
    this.stamps = new LRUCache({ maxSize: maxBytes, sizeCalculation: ({ pixels }) => pixels.byteLength });
  }

  /** Returns the stamp of a key, made like {@link stampOf} if it is not kept. */
  get(key: string, width: number, height: number, draw: (context: SKRSContext2D) => void): Stamp {
    let stamp = this.stamps.get(key);
    if (!stamp) {
      stamp = stampOf(width, height, draw);
      this.stamps.set(key, stamp);
    }
    return stamp;
  }
}

/**
 * Blends a stamp above opaque pixels, inside a box of the surface. `left` and `top` are whole device pixels. `opacity`
 * is 0 to 1.
 */
export function paintStamp(
  surface: Surface,
  { pixels, width, height }: Stamp,
  left: number,
  top: number,
  opacity = 1,
  box: PixelBox = surface.area,
): void {
  const below = surface.pixels;
  const firstX = Math.max(left, box.minX);
  const endX = Math.min(left + width, box.maxX);
  const endY = Math.min(top + height, box.maxY);
  const share = Math.round(255 * opacity);
  // Most neighbours are blended alike.
  let [lastBelow, lastAbove, last] = [0, 0, 0];
  for (let row = Math.max(top, box.minY); row < endY; row++) {
    const from = (row - top) * width - left;
    const to = row * surface.width;
    for (let column = firstX; column < endX; column++) {
      const above = pixels[from + column]!;
      if (above === 0) continue;
      const pixel = below[to + column]!;
      if (pixel !== lastBelow || above !== lastAbove) {
        last = blended(pixel, above, share);
        lastBelow = pixel;
        lastAbove = above;
      }
      below[to + column] = last;
    }
  }
}

function blended(below: number, above: number, opacity: number): number {
  const rest = 255 * 255 - opacity * (above >>> 24);
  const red = (below & 255) * rest + 255 * opacity * (above & 255);
  const green = ((below >> 8) & 255) * rest + 255 * opacity * ((above >> 8) & 255);
  const blue = ((below >> 16) & 255) * rest + 255 * opacity * ((above >> 16) & 255);
  return ((0xff << 24) | (byteOf(blue) << 16) | (byteOf(green) << 8) | byteOf(red)) >>> 0;
}

const byteOf = (product: number): number => Math.min(255, Math.round(product / (255 * 255)));
