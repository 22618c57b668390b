/**
 * Projects positions with Web Mercator, and lists the tiles that an image shows.
 *
 * The world is a square 512 CSS pixels wide at zoom 0. It repeats to the east and west, and latitudes end at ±85.0511°.
 * Pure.
 */
import type { Bounds, PixelBox, Position, Viewport } from '../types.js';

/** Width in CSS pixels of the world at zoom 0, and of a vector tile at its own zoom. */
export const tileSizePx = 512;

/** Maximum latitude of the square world, in degrees. */
export const maxLatitude = 85.0511287798066;

/** A point in pixels. */
export type Pixel = readonly [x: number, y: number];

/** A tile with its position in the image. */
export interface PlacedTile {
  readonly zoom: number;
  /** 0 to 2^zoom − 1, in every copy of the world. */
  readonly x: number;
  readonly y: number;
  /** Position and size in CSS pixels of the image, at the view's zoom. */
  readonly left: number;
  readonly top: number;
  readonly sizePx: number;
  /** The part of the image where this tile is shown; undefined for all of the tile. */
  readonly part?: PixelBox;
}

/** Returns the part of the image where a tile is shown, in CSS pixels. It may reach beyond the image. */
export const partOf = ({ left, top, sizePx, part }: PlacedTile): PixelBox =>
  part ?? { minX: left, minY: top, maxX: left + sizePx, maxY: top + sizePx };

/** Returns the width of the world at this zoom in CSS pixels. */
export function worldSizePx(zoom: number): number {
  return tileSizePx * 2 ** zoom;
}

/**
 * Returns a position's pixel in the world at this zoom. Longitudes beyond ±180° lie in neighbouring copies of the
 * world.
 */
export function worldPixel([longitude, latitude]: Position, zoom: number): Pixel {
  const size = worldSizePx(zoom);
  const clamped = Math.max(-maxLatitude, Math.min(maxLatitude, latitude));
  const y = 0.5 - Math.atanh(Math.sin((clamped * Math.PI) / 180)) / (2 * Math.PI);
  return [size * (longitude / 360 + 0.5), size * y];
}

/** Returns the position of a world pixel: the inverse of {@link worldPixel}. */
export function worldPosition([x, y]: Pixel, zoom: number): Position {
  const size = worldSizePx(zoom);
  const latitude = (Math.asin(Math.tanh(2 * Math.PI * (0.5 - y / size))) * 180) / Math.PI;
  return [(x / size - 0.5) * 360, latitude];
}

/** Returns a position in CSS pixels of the image, in the copy of the world nearest to the centre. */
export function imagePixel(view: Viewport, position: Position): Pixel {
  const size = worldSizePx(view.zoom);
  const [centerX, centerY] = worldPixel(view.center, view.zoom);
  const [x, y] = worldPixel(position, view.zoom);
  const copies = Math.round((centerX - x) / size);
  return [x + copies * size - centerX + view.width / 2, y - centerY + view.height / 2];
}

/**
 * Returns the zoom of the tiles that a view shows, or null where the source has none. Above the source's last zoom its
 * tiles are enlarged. `sourceTileSizePx` is the size that tiles are made for: 512 for vector tiles, and the image size
 * for raster tiles, whose nearest zoom is used.
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

/**
 * Returns the tiles of one zoom that the image touches, row by row, in every copy of the world. A margin of `marginPx`
 * CSS pixels around the image counts as part of it.
 */
export function coverTiles(view: Viewport, zoom: number, marginPx = 0): PlacedTile[] {
  const count = 2 ** zoom;
  const sizePx = worldSizePx(view.zoom) / count;
  const [centerX, centerY] = worldPixel(view.center, view.zoom);
  const left = centerX - view.width / 2;
  const top = centerY - view.height / 2;
  const lastX = Math.ceil((left + view.width + marginPx) / sizePx) - 1;
  const lastY = Math.min(count, Math.ceil((top + view.height + marginPx) / sizePx)) - 1;
  const tiles: PlacedTile[] = [];
  for (let y = Math.max(0, Math.floor((top - marginPx) / sizePx)); y <= lastY; y++) {
    for (let x = Math.floor((left - marginPx) / sizePx); x <= lastX; x++) {
      const wrapped = ((x % count) + count) % count;
      tiles.push({ zoom, x: wrapped, y, left: x * sizePx - left, top: y * sizePx - top, sizePx });
    }
  }
  return tiles;
}

/** Tests whether a position lies in a box of degrees, or on its edge. */
export const isIn = ([west, south, east, north]: Bounds, [longitude, latitude]: Position): boolean =>
  longitude >= west && longitude <= east && latitude >= south && latitude <= north;
