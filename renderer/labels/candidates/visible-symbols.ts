/** Finds the features of a symbol layer that are visible in a frame. */
import type { Frame } from '../../draw/frame.js';
import type { Translate } from '../../draw/tile-canvas.js';
import type { StyleLayer } from '../../style/compile.js';
import type { TileFeature } from '../../tiles/vector-tile.js';
import type { PixelBox } from '../../types.js';
import { type PlacedTile, partOf, tileSizePx } from '../../view/projection.js';
import { areasAround } from './area-around.js';
import { type SizesOf, type SymbolFeature, symbolFeatures } from './symbol-features.js';

/** The visible part of a tile. */
export interface VisibleTile {
  readonly extent: number;
  /** Intersection of tile and image, in tile units. */
  readonly box: PixelBox;
  /** CSS pixels per tile unit. */
  readonly unitPx: number;
  /** Converts tile units to CSS pixels of the image. */
  toImage(x: number, y: number): readonly [x: number, y: number];
}

/** A symbol whose tile is in view. The symbol itself may be beside it. */
export interface VisibleSymbol extends SymbolFeature {
  readonly tile: VisibleTile;
}

/** Returns features tile by tile, in each tile's order. A margin of `insetPx` inside the image's edge is left out. */
export function visibleSymbols(frame: Frame, layer: StyleLayer, insetPx: number): VisibleSymbol[] {
  const symbols: VisibleSymbol[] = [];
  const shift = layer.property<Translate>('text-translate').at(frame.view.zoom);
  for (const { place, tile } of frame.tiles.get(layer.source ?? '') ?? []) {
    if (tile.kind !== 'vector') continue;
    const tileLayer = tile.tile.layers.get(layer.sourceLayer ?? '');
    if (!tileLayer) continue;
    frame.work.ask(layer, tileLayer.size);
    const visibleTile = visibleTileOf(frame, place, shift, tileLayer.extent, insetPx);
    const unitPx = (tileSizePx * 2 ** (frame.wholeZoom - place.zoom)) / tileLayer.extent;
    const sizesOf: SizesOf = (areas) => {
      const sizeAround = areasAround(tile.tile, areas);
      return (feature: TileFeature) => sizeAround(feature) * unitPx ** 2;
    };
    const found = symbolFeatures(tileLayer, layer, frame.wholeZoom, frame.images, visibleTile.box, sizesOf);
    for (const symbol of found) symbols.push({ tile: visibleTile, ...symbol });
  }
  return symbols;
}

function visibleTileOf(
  { view }: Frame,
  place: PlacedTile,
  [shiftX, shiftY]: Translate,
  extent: number,
  insetPx: number,
): VisibleTile {
  const left = place.left + shiftX;
  const top = place.top + shiftY;
  const unitPx = place.sizePx / extent;
  const part = partOf(place);
  return {
    extent,
    unitPx,
    box: {
      minX: Math.max((part.minX - place.left) / unitPx, (insetPx - left) / unitPx),
      minY: Math.max((part.minY - place.top) / unitPx, (insetPx - top) / unitPx),
      maxX: Math.min((part.maxX - place.left) / unitPx, (view.width - insetPx - left) / unitPx),
      maxY: Math.min((part.maxY - place.top) / unitPx, (view.height - insetPx - top) / unitPx),
    },
    toImage: (x, y) => [left + x * unitPx, top + y * unitPx],
  };
}
