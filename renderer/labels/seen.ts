/** The features of a symbol layer, lettered or marked, that a frame shows. */

import type { Frame } from '../draw/frame.js';
import { overlaps, type Translate } from '../draw/tile-canvas.js';
import type { StyleLayer } from '../style/compile.js';
import type { PixelBox } from '../types.js';
import type { PlacedTile } from '../view/projection.js';
import { type Lettered, letteredFeatures } from './select.js';

/** A tile of the frame, as far as it is seen. */
export interface SeenTile {
  readonly extent: number;
  /** The part that is inside both tile and image, in tile units. */
  readonly box: PixelBox;
  /** CSS pixels per tile unit. */
  readonly unitPx: number;
  /** Tile units to CSS pixels of the image. */
  toImage(x: number, y: number): readonly [x: number, y: number];
}

export interface SeenFeature extends Lettered {
  readonly tile: SeenTile;
}

/** From tile to tile, in each in the tile's order. `insetPx` is left out along the image's edge. */
export function seenFeatures(frame: Frame, layer: StyleLayer, insetPx: number): SeenFeature[] {
  const seen: SeenFeature[] = [];
  const shift = layer.property<Translate>('text-translate').at(frame.view.zoom);
  for (const { place, tile } of frame.tiles.get(layer.source ?? '') ?? []) {
    const tileLayer = tile.kind === 'vector' ? tile.tile.layers.get(layer.sourceLayer ?? '') : undefined;
    if (!tileLayer) continue;
    const seenTile = seenTileOf(frame, place, shift, tileLayer.extent, insetPx);
    for (const lettered of letteredFeatures(tileLayer, layer, frame.wholeZoom, frame.images)) {
      if (overlaps(lettered.feature.box, seenTile.box)) seen.push({ ...lettered, tile: seenTile });
    }
  }
  return seen;
}

function seenTileOf(
  { view }: Frame,
  place: PlacedTile,
  [shiftX, shiftY]: Translate,
  extent: number,
  insetPx: number,
): SeenTile {
  const left = place.left + shiftX;
  const top = place.top + shiftY;
  const unitPx = place.sizePx / extent;
  return {
    extent,
    unitPx,
    box: {
      minX: Math.max(0, (insetPx - left) / unitPx),
      minY: Math.max(0, (insetPx - top) / unitPx),
      maxX: Math.min(extent, (view.width - insetPx - left) / unitPx),
      maxY: Math.min(extent, (view.height - insetPx - top) / unitPx),
    },
    toImage: (x, y) => [left + x * unitPx, top + y * unitPx],
  };
}
