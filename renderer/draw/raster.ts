/** Draws layers of type `raster`. */

import type { StyleLayer } from '../style/compile.js';
import { type Frame, type LoadedTile, tileArea } from './frame.js';

/** Draws each tile to the edges of whole device pixels, so that neighbours touch. */
export function paintRaster(frame: Frame, layer: StyleLayer, tiles: readonly LoadedTile[]): void {
  const { context, view } = frame;
  const resampling = layer.property<string>('raster-resampling').at(view.zoom);
  context.save();
  context.resetTransform();
  context.globalAlpha = layer.property<number>('raster-opacity').at(view.zoom);
  context.imageSmoothingEnabled = resampling !== 'nearest';
  context.imageSmoothingQuality = 'medium';
  for (const { place, tile } of tiles) {
    if (tile.kind !== 'raster') continue;
    const left = Math.round(place.left * view.scale);
    const top = Math.round(place.top * view.scale);
    const right = Math.round((place.left + place.sizePx) * view.scale);
    const bottom = Math.round((place.top + place.sizePx) * view.scale);
    const { minX, maxX } = tileArea(frame, place);
    if (minX < maxX) context.drawImage(tile.image, left, top, right - left, bottom - top);
  }
  context.restore();
}
