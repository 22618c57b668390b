/**
 * Images that are only an outline: a pixel's opacity says how far it is from the edge, and the style gives colours (a
 * signed distance field).
 *
 * A quarter of the range lies outside of the shape. Numbers are those of the engine that styles are made for.
 */

import type { Color } from '@maplibre/maplibre-gl-style-spec';
import { type Canvas, ImageData } from '@napi-rs/canvas';
import { LRUCache } from 'lru-cache';
import { canvasOf, type SpriteImage } from './sprite-image.js';

export interface OutlineLook {
  /** Of the image's own size. */
  readonly size: number;
  readonly color: Color;
  readonly haloColor: Color;
  /** CSS pixels. */
  readonly haloWidthPx: number;
}

/** Of the range: where the shape ends. */
const edge = 0.75;
/** Pixels of the image that the range goes over. */
const rangePx = 8;
/** How far beyond the shape's end a halo may reach, in those. */
const maxHaloPx = 6;
/** Half of the width that an edge is smoothed over, of the range, at a size and scale of 1. */
const smoothing = 0.105;
/** No icon is seen in more detail. */
const maxSidePx = 2_048;

const kept = new WeakMap<SpriteImage, LRUCache<string, Canvas>>();
/** Looks of one image. */
const maxKept = 16;

/** The image in its colours, at the size it is drawn at; `scale` is device pixels per CSS pixel. */
export function outlinedIcon(image: SpriteImage, look: OutlineLook, scale: number): Canvas {
  let looks = kept.get(image);
  if (!looks) {
    looks = new LRUCache({ max: maxKept });
    kept.set(image, looks);
  }
  const key = [look.size, scale, look.color, look.haloColor, look.haloWidthPx].join(' ');
  let canvas = looks.get(key);
  if (!canvas) {
    canvas = canvasOf(outlined(image, look, scale));
    looks.set(key, canvas);
  }
  return canvas;
}

function outlined(image: SpriteImage, { size, color, haloColor, haloWidthPx }: OutlineLook, scale: number): ImageData {
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

/** The specification's colours are multiplied by their opacity. */
function unmultiplied({ r, g, b, a }: Color): Channels {
  return a === 0 ? [0, 0, 0] : [r / a, g / a, b / a];
}

/** A colour over another, 0 to 255. */
function over(above: Channels, aboveAlpha: number, below: Channels, belowAlpha: number): number[] {
  const rest = belowAlpha * (1 - aboveAlpha);
  const alpha = aboveAlpha + rest;
  if (alpha === 0) return [0, 0, 0, 0];
  return [...above.map((value, i) => (255 * (value * aboveAlpha + below[i]! * rest)) / alpha), 255 * alpha];
}

/** Opacity, 0 to 1, between the four pixels around a place given as shares of width and height. */
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
