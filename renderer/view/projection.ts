/**
 * Web Mercator: where a position lies in the image, and which tiles the image shows.
 *
 * The world is a square 512 CSS pixels wide at zoom 0 and repeats to the east and west; latitudes end at ±85.0511°.
 * Pure.
 */

import type { Position, Viewport } from '../types.js';

/** CSS pixels of the world at zoom 0, and of a vector tile at its own zoom. */
export const tileSizePx = 512;

/** Where the square world ends, in degrees. */
export const maxLatitude = 85.0511287798066;

/** x and y in pixels. */
export type Pixel = readonly [x: number, y: number];

/** A tile in its place in the image. */
export interface PlacedTile {
  readonly zoom: number;
  /** 0 to 2^zoom − 1, also where the world repeats. */
  readonly x: number;
  readonly y: number;
  /** CSS pixels of the image; its size is that at the view's zoom. */
  readonly left: number;
  readonly top: number;
  readonly sizePx: number;
}

/** CSS pixels of the world's width at this zoom. */
export function worldSizePx(zoom: number): number {
  return tileSizePx * 2 ** zoom;
}

/** A position's pixel in the world at this zoom. Longitudes beyond ±180° lie in the world's next copies. */
export function worldPixel([longitude, latitude]: Position, zoom: number): Pixel {
  const size = worldSizePx(zoom);
  const clamped = Math.max(-maxLatitude, Math.min(maxLatitude, latitude));
  const y = 0.5 - Math.atanh(Math.sin((clamped * Math.PI) / 180)) / (2 * Math.PI);
  return [size * (longitude / 360 + 0.5), size * y];
}

/** The position of a world pixel; the inverse of {@link worldPixel}. */
export function worldPosition([x, y]: Pixel, zoom: number): Position {
  const size = worldSizePx(zoom);
  const latitude = (Math.asin(Math.tanh(2 * Math.PI * (0.5 - y / size))) * 180) / Math.PI;
  return [(x / size - 0.5) * 360, latitude];
}

/** Where a position lies in the image, in CSS pixels: of the world's copies the one nearest the centre. */
export function imagePixel(view: Viewport, position: Position): Pixel {
  const size = worldSizePx(view.zoom);
  const [centerX, centerY] = worldPixel(view.center, view.zoom);
  const [x, y] = worldPixel(position, view.zoom);
  const copies = Math.round((centerX - x) / size);
  return [x + copies * size - centerX + view.width / 2, y - centerY + view.height / 2];
}

/** The position under a CSS pixel of the image; its longitude goes on beyond ±180° where the world repeats. */
export function imagePosition(view: Viewport, [x, y]: Pixel): Position {
  const [centerX, centerY] = worldPixel(view.center, view.zoom);
  return worldPosition([centerX + x - view.width / 2, centerY + y - view.height / 2], view.zoom);
}

/**
 * The zoom of the tiles that a view shows, or null where the source has none yet. Above the source's last zoom its
 * tiles are enlarged. `sourceTileSizePx` is the size that the tiles are made for: 512 for vector tiles, that of the
 * images for raster tiles, whose zoom is the nearest.
 */
export function tileZoom(
  viewZoom: number,
  source: {
    readonly kind: 'vector' | 'raster';
    readonly minZoom: number;
    readonly maxZoom: number;
    readonly tileSizePx: number;
  },
): number | null {
  const zoom = viewZoom + Math.log2(tileSizePx / source.tileSizePx);
  const wanted = Math.max(0, source.kind === 'raster' ? Math.round(zoom) : Math.floor(zoom));
  return wanted < source.minZoom ? null : Math.min(wanted, source.maxZoom);
}

/** The tiles of one zoom that the image touches, row by row, as often as the world repeats in it. */
export function coverTiles(view: Viewport, zoom: number): PlacedTile[] {
  const count = 2 ** zoom;
  const sizePx = worldSizePx(view.zoom) / count;
  const [centerX, centerY] = worldPixel(view.center, view.zoom);
  const left = centerX - view.width / 2;
  const top = centerY - view.height / 2;
  const lastX = Math.ceil((left + view.width) / sizePx) - 1;
  const lastY = Math.min(count, Math.ceil((top + view.height) / sizePx)) - 1;
  const tiles: PlacedTile[] = [];
  for (let y = Math.max(0, Math.floor(top / sizePx)); y <= lastY; y++) {
    for (let x = Math.floor(left / sizePx); x <= lastX; x++) {
      const wrapped = ((x % count) + count) % count;
      tiles.push({ zoom, x: wrapped, y, left: x * sizePx - left, top: y * sizePx - top, sizePx });
    }
  }
  return tiles;
}
