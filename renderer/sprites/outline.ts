/**
 * Draws signed distance fields: the opacity of a pixel is its distance from the edge, and the style gives the colours.
 *
 * A quarter of the range lies outside the shape. The constants are those of MapLibre GL JS.
 */
import type { Color } from '@maplibre/maplibre-gl-style-spec';
import { type Canvas, ImageData } from '@napi-rs/canvas';
import { LRUCache } from 'lru-cache';
import { canvasOf, type SpriteImage } from './sprite-image.js';

interface SdfPaint {
  /** Factor to the image's own size. */
  readonly size: number;
  readonly color: Color;
  readonly haloColor: Color;
  /** CSS pixels. */
  readonly haloWidthPx: number;
}

/** Value at the edge of the shape. */
const edge = 0.75;
/** Image pixels that the range covers. */
const rangePx = 8;
/** Maximum width of a halo, in image pixels. */
const maxHaloPx = 6;
/** Half of the width over which an edge is smoothed at size and scale 1, as a share of the range. */
const smoothing = 0.105;
/** Maximum side of a drawn icon in pixels. */
const maxSidePx = 2_048;

const kept = new WeakMap<SpriteImage, LRUCache<string, Canvas>>();
/** Maximum cached drawings of one image. */
const maxKept = 16;

/** Returns the coloured image at the drawn size. `scale` is device pixels per CSS pixel. */
export function sdfIcon(image: SpriteImage, paint: SdfPaint, scale: number): Canvas {
  let drawings = kept.get(image);
  if (!drawings) {
    drawings = new LRUCache({ max: maxKept });
    kept.set(image, drawings);
  }
  const key = [paint.size, scale, paint.color, paint.haloColor, paint.haloWidthPx].join(' ');
  let canvas = drawings.get(key);
  if (!canvas) {
    canvas = canvasOf(shaded(image, paint, scale));
    drawings.set(key, canvas);
  }
  return canvas;
}

function shaded(image: SpriteImage, { size, color, haloColor, haloWidthPx }: SdfPaint, scale: number): ImageData {
  const side = (length: number) => Math.max(1, Math.min(maxSidePx, Math.round(length * size * scale)));
  const [width, height] = [side(image.width), side(image.height)];
  const gamma = smoothing / scale / size;
  const haloEdge = (maxHaloPx - haloWidthPx / size) / rangePx;
  const hasHalo = haloWidthPx > 0 && haloColor.a > 0;
  const distanceAt = sampler(image.bitmap());
  const bitmap = new ImageData(width, height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const distance = distanceAt((x + 0.5) / width, (y + 0.5) / height);
      const halo = hasHalo ? haloColor.a * smoothstep(haloEdge - gamma, haloEdge + gamma, distance) : 0;
      const fill = color.a * smoothstep(edge - gamma, edge + gamma, distance);
      bitmap.data.set(over(unmultiplied(color), fill, unmultiplied(haloColor), halo), 4 * (y * width + x));
    }
  }
  return bitmap;
}

type Channels = readonly [red: number, green: number, blue: number];

/** Undoes the premultiplication of the specification's colours. */
function unmultiplied({ r, g, b, a }: Color): Channels {
  return a === 0 ? [0, 0, 0] : [r / a, g / a, b / a];
}

/** Blends a colour over another one. Channels are 0 to 255. */
function over(above: Channels, aboveAlpha: number, below: Channels, belowAlpha: number): number[] {
  const rest = belowAlpha * (1 - aboveAlpha);
  const alpha = aboveAlpha + rest;
  if (alpha === 0) return [0, 0, 0, 0];
  return [...above.map((value, i) => (255 * (value * aboveAlpha + below[i]! * rest)) / alpha), 255 * alpha];
}

/** Returns a function that interpolates opacity, 0 to 1, at a position given as shares of width and height. */
function sampler({ data, width, height }: ImageData): (across: number, down: number) => number {
  const at = (x: number, y: number) =>
    data[4 * (Math.max(0, Math.min(height - 1, y)) * width + Math.max(0, Math.min(width - 1, x))) + 3]! / 255;
  return (across, down) => {
    const x = across * width - 0.5;
    const y = down * height - 0.5;
    const [left, top] = [Math.floor(x), Math.floor(y)];
    const [shareX, shareY] = [x - left, y - top];
    const row = (line: number) => at(left, line) * (1 - shareX) + at(left + 1, line) * shareX;
    return row(top) * (1 - shareY) + row(top + 1) * shareY;
  };
}

function smoothstep(from: number, to: number, value: number): number {
  const share = Math.max(0, Math.min(1, (value - from) / (to - from)));
  return share * share * (3 - 2 * share);
}
