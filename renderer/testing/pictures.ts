/** Draws maps of synthetic tiles, to check pixels. For tests. */
import type { LayerSpecification, StyleSpecification } from '@maplibre/maplibre-gl-style-spec';
import sharp from 'sharp';
import { createRenderer } from '../render.js';
import { noImages } from '../sprites/sprite-images.js';
import { compileStyle } from '../style/compile.js';
import type { TileSource, Viewport } from '../types.js';
import { worldPosition } from '../view/projection.js';
import { type DrawnFeature, sourceOf, tileBytes } from './tiles.js';

/** The pixels of a picture without opacity, three bytes each. */
export class Picture {
  constructor(
    readonly pixels: Uint8Array,
    readonly width: number,
    readonly height: number,
  ) {}

  /** Returns the colour as `#rrggbb`. */
  at(x: number, y: number): string {
    const start = 3 * (y * this.width + x);
    return `#${[0, 1, 2].map((i) => this.pixels[start + i]!.toString(16).padStart(2, '0')).join('')}`;
  }

  /** Counts pixels with a channel that differs by more than `tolerance` of 255. */
  differences(other: Picture, tolerance: number): number {
    let count = 0;
    for (let i = 0; i < this.pixels.length; i += 3) {
      if ([0, 1, 2].some((k) => Math.abs(this.pixels[i + k]! - other.pixels[i + k]!) > tolerance)) count++;
    }
    return count;
  }

  /** Returns the number of pixels of a colour, which is `#rrggbb`. */
  count(color: string): number {
    let count = 0;
    for (let y = 0; y < this.height; y++) {
      for (let x = 0; x < this.width; x++) if (this.at(x, y) === color) count++;
    }
    return count;
  }
}

/** Decodes an image of any format. */
export async function pictureOf(bytes: Uint8Array): Promise<Picture> {
  const { data, info } = await sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  return new Picture(data, info.width, info.height);
}

/** The world's only tile at zoom 0: a pixel is 8 of its 4096 units. */
export const wholeTile: Viewport = { center: [0, 0], zoom: 0, width: 512, height: 512, scale: 1 };

/** Returns the view of the same size whose upper left corner is this pixel of the world. */
export function viewFrom(left: number, top: number, view: Viewport): Viewport {
  return { ...view, center: worldPosition([left + view.width / 2, top + view.height / 2], view.zoom) };
}

/** Returns a style of these layers over the source `tiles`. */
export function styleOf(layers: readonly object[]): StyleSpecification {
  const complete = layers.map((layer, i) => ({ id: `layer-${i}`, ...layer }) as LayerSpecification);
  return { version: 8, sources: { tiles: { type: 'vector' } }, layers: complete };
}

/** Returns a style layer of source layer `shapes`. */
export function shapes(type: string, paint: object, more: object = {}): object {
  return { type, source: 'tiles', 'source-layer': 'shapes', paint, ...more };
}

/** Draws layers over a source, without labels and overlays. */
export async function drawSource(
  source: TileSource,
  layers: readonly object[],
  view: Viewport = wholeTile,
  images = noImages,
): Promise<Picture> {
  const style = compileStyle(styleOf(layers));
  const sources = new Map([['tiles', source]]);
  const scene = { view, style, sources, images, labels: null, overlays: null, format: 'png' as const };
  return pictureOf((await createRenderer().render(scene)).bytes);
}

/** Draws the same features in every tile. */
export function draw(
  features: readonly DrawnFeature[],
  layers: readonly object[],
  view: Viewport = wholeTile,
  images = noImages,
): Promise<Picture> {
  return drawSource(
    sourceOf(async () => tileBytes({ shapes: features })),
    layers,
    view,
    images,
  );
}
