/** Which features of a tile a style layer draws, and which of its properties differ between them. */

import { askedOnce } from '../style/alike.js';
import type { StyleLayer } from '../style/compile.js';
import { isPerFeature, type Property } from '../style/property.js';
import { type Reads, readsOf } from '../style/reads.js';
import type { TileFeature, TileLayer } from '../tiles/vector-tile.js';

export interface Selection {
  readonly sourceLayer: string;
  readonly layer: StyleLayer;
  /** Properties that depend on the feature: those with equal values are drawn together. */
  readonly grouping: readonly Property<unknown>[];
  /** What those properties read of a feature. */
  readonly groupingReads: Reads;
  /** Order of drawing, lowest first; null for the tile's own. */
  readonly sortKey: Property<number> | null;
  /** Equal for selections of equal result, in other layers and styles too. */
  readonly key: string;
  /** Whether the result differs between whole zooms. */
  readonly dependsOnZoom: boolean;
  /** Whether it differs by which images there are. */
  readonly dependsOnImages: boolean;
}

/** `painted` are the properties that say how the layer's features look. */
export function selectionOf(layer: StyleLayer, painted: readonly string[], sortKeyName: string | null): Selection {
  const grouping = painted.map((name) => layer.property(name)).filter(isPerFeature);
  const sortKey = sortKeyName === null ? null : layer.property<number>(sortKeyName);
  const ordered = sortKey && isPerFeature(sortKey) ? sortKey : null;
  return {
    sourceLayer: layer.sourceLayer ?? '',
    layer,
    grouping,
    groupingReads: readsOf(...grouping.map(({ text }) => text)),
    sortKey: ordered,
    key: JSON.stringify([layer.sourceLayer, layer.filterText, grouping.map((p) => p.text), ordered?.text]),
    dependsOnZoom:
      layer.filterDependsOnZoom || [...grouping, ordered].some((property) => property?.kind === 'composite'),
    dependsOnImages: grouping.some((property) => property.isImage),
  };
}

/** The features that pass the layer's filter at a whole zoom, in the order they are drawn in. */
export function select({ layer, sortKey }: Selection, tileLayer: TileLayer, zoom: number): TileFeature[] {
  const selected = tileLayer.features.filter(askedOnce(tileLayer, layer.filterReads, layer.filter(zoom)));
  if (!sortKey) return selected;
  const keyOf = askedOnce(tileLayer, readsOf(sortKey.text), (feature) => sortKey.at(zoom, feature));
  const keys = new Map(selected.map((feature) => [feature, keyOf(feature)]));
  return selected.sort((a, b) => keys.get(a)! - keys.get(b)!);
}

/**
 * Equal for features that look the same at every zoom from this whole one to the next. A property of zoom and feature
 * is interpolated between whole zooms, so its two values there stand for all between.
 */
export function looksOf(
  { grouping, groupingReads }: Selection,
  tileLayer: TileLayer,
  zoom: number,
  images: string[],
): (feature: TileFeature) => string {
  return askedOnce(tileLayer, groupingReads, (feature) => {
    let look = '';
    for (const property of grouping) {
      look += `${String(property.at(zoom, feature, images))}|`;
      if (property.kind === 'composite') look += `${String(property.at(zoom + 1, feature, images))}|`;
    }
    return look;
  });
}
