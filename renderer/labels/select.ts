/** Which features of a tile a symbol layer letters or marks, and with what: remembered as long as the tile is. */

import { LRUCache } from 'lru-cache';
import type { SpriteImages } from '../sprites/sprite-images.js';
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
  /** Its number in the tile. */
  readonly order: number;
}

type Selections = LRUCache<string, readonly Lettered[]>;

/** Of one layer of one tile, for all style layers and zooms. */
const maxLettered = 20_000;

const selections = new WeakMap<TileLayer, Selections>();
const numbers = new WeakMap<StyleLayer, number>();
let layers = 0;

/** The features of a tile's layer that have a text or an icon at this whole zoom, in the tile's order. */
export function letteredFeatures(
  tileLayer: TileLayer,
  layer: StyleLayer,
  zoom: number,
  images: SpriteImages,
): readonly Lettered[] {
  const known = selectionsOf(tileLayer);
  const hasIcons = layer.property('icon-image').text !== '';
  const key = `${numberOf(layer)} ${zoom} ${hasIcons ? images.key : ''}`;
  let lettered = known.get(key);
  if (!lettered) {
    lettered = selectLettered(tileLayer, layer, zoom, images);
    known.set(key, lettered);
  }
  return lettered;
}

function selectLettered({ features }: TileLayer, layer: StyleLayer, zoom: number, images: SpriteImages): Lettered[] {
  const passes = layer.filter(zoom);
  const sortKey = layer.property<number | undefined>('symbol-sort-key');
  const lettered: Lettered[] = [];
  for (const [order, feature] of features.entries()) {
    if (!passes(feature)) continue;
    const text = labelText(layer, feature, zoom);
    const icon = iconName(layer, feature, zoom, images);
    if (text !== '' || icon !== null) lettered.push({ feature, text, icon, sortKey: sortKey.at(zoom, feature) ?? 0, order });
  }
  return lettered;
}

function selectionsOf(tileLayer: TileLayer): Selections {
  let known = selections.get(tileLayer);
  if (!known) {
    known = new LRUCache({ maxSize: maxLettered, sizeCalculation: (lettered) => lettered.length + 1 });
    selections.set(tileLayer, known);
  }
  return known;
}

function numberOf(layer: StyleLayer): number {
  let number = numbers.get(layer);
  if (number === undefined) {
    number = layers++;
    numbers.set(layer, number);
  }
  return number;
}
