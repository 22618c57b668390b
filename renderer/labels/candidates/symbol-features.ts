/** Selects the features of a tile that a symbol layer labels, with text and icon. Results are cached. */
import { noteMissingFonts, withMissingFonts } from '../../fonts.js';
import type { SpriteImages } from '../../sprites/sprite-images.js';
import type { StyleLayer } from '../../style/compile.js';
import { type ImageProperty, imageNameAt } from '../../style/image-name.js';
import { memoizeByDependencies, passingFeatures } from '../../style/memoize.js';
import type { AreaAround } from '../../style/placement-hints.js';
import { CellCache } from '../../tiles/cell-cache.js';
import { overlaps } from '../../tiles/coordinates.js';
import type { TileFeature, TileLayer } from '../../tiles/vector-tile.js';
import type { PixelBox } from '../../types.js';
import { isTemplate, type LabelSection, labelTexts } from '../text/label-text.js';

/** A feature with a text, an icon or both, before it has a place. */
export interface SymbolFeature {
  readonly feature: TileFeature;
  /** Empty for an icon alone. */
  readonly text: string;
  /** Null for a text of one style. */
  readonly sections: readonly LabelSection[] | null;
  /** Name of an image; null for a text alone. */
  readonly icon: string | null;
  /** Features with lower keys are placed first. */
  readonly sortKey: number;
}

/**
 * Features of all tiles, style layers and zooms: about 15 MB. One cache holds them all, because a style that is
 * compiled again has new layers. Entries of its old layers must be evicted in every tile.
 */
const maxSymbolFeatures = 120_000;
/** Cost of an entry, in features: an entry keeps its tile in memory. */
const entryCost = 20;

/** What a layer labels in a cell of a tile, in the tile's order, and the packages of fonts that it lacks. */
type Selected = ReturnType<typeof withMissingFonts<readonly SymbolFeature[]>>;

const cache = new CellCache<Selected>(maxSymbolFeatures, entryCost, ({ result }) => result.length);
const numbers = new WeakMap<TileLayer | StyleLayer, number>();
let layers = 0;

/** Returns a function that returns the size of such areas around a point, in square CSS pixels at the whole zoom. */
export type SizesOf = (areas: AreaAround) => (feature: TileFeature) => number;

/**
 * Returns the features of a tile's layer that have a text or an icon at this whole zoom and whose boxes overlap
 * `near`, in tile units. They have the tile's order.
 */
export function symbolFeatures(
  tileLayer: TileLayer,
  layer: StyleLayer,
  zoom: number,
  images: SpriteImages,
  near: PixelBox,
  sizesOf?: SizesOf,
): SymbolFeature[] {
  const hasIcons = layer.property('icon-image').text !== '';
  const key = `${numberOf(tileLayer)} ${numberOf(layer)} ${zoom} ${hasIcons ? images.key : ''}`;
  const found: SymbolFeature[] = [];
  const selected = cache.get(key, tileLayer.cellsNear(near), () => {
    const select = symbolSelector(tileLayer, layer, zoom, images, sizesOf);
    return (cell) => withMissingFonts(() => select(tileLayer.featuresIn(cell)));
  });
  for (const { result, missingFonts } of selected) {
    noteMissingFonts(missingFonts);
    for (const symbol of result) if (overlaps(symbol.feature.box, near)) found.push(symbol);
  }
  return found.sort((a, b) => a.feature.order - b.feature.order);
}

/** Returns a function that returns those of a tile's features that have a text or an icon. */
function symbolSelector(
  tileLayer: TileLayer,
  layer: StyleLayer,
  zoom: number,
  images: SpriteImages,
  sizesOf?: SizesOf,
): (features: readonly TileFeature[]) => SymbolFeature[] {
  const sortKey = layer.property<number | undefined>('symbol-sort-key');
  const keyOf = memoizeByDependencies(tileLayer, sortKey.dependencies, (feature) => sortKey.at(zoom, feature));
  const { areaAround } = layer;
  const sizeOf = areaAround && sizesOf?.(areaAround);
  const textOf = labelTexts(layer, tileLayer, zoom);
  const passing = passingFeatures(tileLayer, layer, zoom);
  return (features) => {
    const selected: SymbolFeature[] = [];
    for (const feature of passing(features)) {
      const size = sizeOf?.(feature);
      if (areaAround && (size ?? 0) < areaAround.minPx2) continue;
      const { text, sections } = textOf(feature);
      const icon = iconName(layer, feature, zoom, images);
      if (text !== '' || icon !== null)
        selected.push({ feature, text, sections, icon, sortKey: size ? -size : (keyOf(feature) ?? 0) });
    }
    return selected;
  };
}

/** Returns the image name of a layer's feature at a whole zoom. Null without an icon, or when the image is missing. */
function iconName(layer: StyleLayer, feature: TileFeature, zoom: number, images: SpriteImages): string | null {
  const property: ImageProperty = layer.property('icon-image');
  if (property.text === '' || images.names.length === 0) return null;
  const value = imageNameAt(property, zoom, feature, images.names);
  if (value === null) return null;
  const name = value.includes('{') && isTemplate(property) ? withTokens(value, feature) : value;
  return images.get(name) ? name : null;
}

/** Replaces tokens such as `{maki}` with the feature's property of that name. */
const withTokens = (template: string, { properties }: TileFeature): string =>
  template.replace(/{([^{}]+)}/g, (_token, name: string) => `${properties[name] ?? ''}`);

function numberOf(layer: TileLayer | StyleLayer): number {
  let number = numbers.get(layer);
  if (number === undefined) {
    number = layers++;
    numbers.set(layer, number);
  }
  return number;
}
