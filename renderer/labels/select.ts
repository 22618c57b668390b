/** Which features of a tile a symbol layer letters or marks, and with what; remembered for as long as there is room. */

import { LRUCache } from 'lru-cache';
import type { SpriteImages } from '../sprites/sprite-images.js';
import { askedOnce } from '../style/alike.js';
import type { StyleLayer } from '../style/compile.js';
import type { TileFeature, TileLayer } from '../tiles/vector-tile.js';
import { iconName } from './icon-name.js';
import { labelText } from './text.js';

export interface Lettered {
  readonly feature: TileFeature;
  /** Empty for an icon alone. */
  readonly text: string;
  /** The name of an image; null for a text alone. */
  readonly icon: string | null;
  /** Lower ones are placed first. */
  readonly sortKey: number;
}

/**
 * Of all tiles, style layers and zooms: some 30 MB. They are in one store because a style that is compiled anew has new
 * layers: what was remembered for the old ones must make room, in whichever tile it is.
 */
const maxLettered = 200_000;
/** What a selection counts for besides, as many features: it keeps its tile in memory. */
const selectionCost = 20;

const selections = new LRUCache<string, readonly Lettered[]>({
  maxSize: maxLettered,
  sizeCalculation: (lettered) => lettered.length + selectionCost,
});
const numbers = new WeakMap<TileLayer | StyleLayer, number>();
let layers = 0;

/** The features of a tile's layer that have a text or an icon at this whole zoom, in the tile's order. */
export function letteredFeatures(
  tileLayer: TileLayer,
  layer: StyleLayer,
  zoom: number,
  images: SpriteImages,
): readonly Lettered[] {
  const hasIcons = layer.property('icon-image').text !== '';
  const key = `${numberOf(tileLayer)} ${numberOf(layer)} ${zoom} ${hasIcons ? images.key : ''}`;
  let lettered = selections.get(key);
  if (!lettered) {
    lettered = selectLettered(tileLayer, layer, zoom, images);
    selections.set(key, lettered);
  }
  return lettered;
}

function selectLettered(tileLayer: TileLayer, layer: StyleLayer, zoom: number, images: SpriteImages): Lettered[] {
  const passes = askedOnce(tileLayer, layer.filterReads, layer.filter(zoom));
  const sortKey = layer.property<number | undefined>('symbol-sort-key');
  const lettered: Lettered[] = [];
  for (const feature of tileLayer.features) {
    if (!passes(feature)) continue;
    const text = labelText(layer, feature, zoom);
    const icon = iconName(layer, feature, zoom, images);
    if (text !== '' || icon !== null) lettered.push({ feature, text, icon, sortKey: sortKey.at(zoom, feature) ?? 0 });
  }
  return lettered;
}

function numberOf(layer: TileLayer | StyleLayer): number {
  let number = numbers.get(layer);
  if (number === undefined) {
    number = layers++;
    numbers.set(layer, number);
  }
  return number;
}
