/** Selects the features of a tile that a style layer draws, and groups those that are painted alike. */
import type { StyleLayer } from '../style/compile.js';
import { memoizeByDependencies, passingFeatures } from '../style/memoize.js';
import { isPerFeature, type Property } from '../style/property.js';
import { dependenciesOf, type PropertyDependencies } from '../style/property-dependencies.js';
import type { TileFeature, TileLayer } from '../tiles/vector-tile.js';

/** Which features a layer draws, at which zoom and in which groups. Layers with equal selections share buckets. */
export interface Selection {
  readonly sourceLayer: string;
  readonly layer: StyleLayer;
  /** Properties that depend on the feature. Features with equal values are drawn together. */
  readonly grouping: readonly Property<unknown>[];
  /** Feature properties that `grouping` depends on. */
  readonly groupingDependencies: PropertyDependencies;
  /** Drawing order, lowest first; null for the tile's order. */
  readonly sortKey: Property<number> | null;
  /** Equal for selections with equal results, across layers and styles. */
  readonly key: string;
  /** Whether all features are painted alike, so that their order does not matter. */
  readonly isUniform: boolean;
  /** Whether the result differs between whole zooms. */
  readonly dependsOnZoom: boolean;
  /** Whether the result depends on which images exist. */
  readonly dependsOnImages: boolean;
}

/** Returns the selection of a layer. `painted` are the properties that affect how its features are painted. */
export function selectionOf(layer: StyleLayer, painted: readonly string[], sortKeyName: string | null): Selection {
  const grouping = painted.map((name) => layer.property(name)).filter(isPerFeature);
  const sortKey = sortKeyName === null ? null : layer.property<number>(sortKeyName);
  const ordered = sortKey && isPerFeature(sortKey) ? sortKey : null;
  return {
    sourceLayer: layer.sourceLayer ?? '',
    layer,
    grouping,
    groupingDependencies: dependenciesOf(...grouping.map(({ text }) => text)),
    sortKey: ordered,
    key: JSON.stringify([layer.sourceLayer, layer.filterText, grouping.map((p) => p.text), ordered?.text]),
    isUniform: grouping.length === 0 && ordered === null,
    dependsOnZoom:
      layer.filterDependsOnZoom || [...grouping, ordered].some((property) => property?.kind === 'composite'),
    dependsOnImages: grouping.some((property) => property.isImage),
  };
}

/** Returns a function that returns those of a tile's features that pass the layer's filter, in drawing order. */
export function selector(
  { layer, sortKey }: Selection,
  tileLayer: TileLayer,
  zoom: number,
): (features: readonly TileFeature[]) => readonly TileFeature[] {
  const passing = passingFeatures(tileLayer, layer, zoom);
  if (!sortKey) return passing;
  const keyOf = memoizeByDependencies(tileLayer, sortKey.dependencies, (feature) => sortKey.at(zoom, feature));
  return (features) => {
    // There are few keys, such as one for each class of roads.
    const byKey = new Map<number, TileFeature[]>();
    for (const feature of passing(features)) {
      const key = keyOf(feature);
      const equal = byKey.get(key);
      if (equal) equal.push(feature);
      else byKey.set(key, [feature]);
    }
    return [...byKey.keys()].sort((a, b) => a - b).flatMap((key) => byKey.get(key)!);
  };
}

/**
 * Returns a function whose keys are equal for features that are painted alike at every zoom from this whole zoom to the
 * next. Properties of zoom and feature are interpolated between whole zooms, so the values at both ends determine all
 * values between them.
 */
export function batchKeysOf(
  { grouping, groupingDependencies }: Selection,
  tileLayer: TileLayer,
  zoom: number,
  images: string[],
): (feature: TileFeature) => string {
  return memoizeByDependencies(tileLayer, groupingDependencies, (feature) => {
    let key = '';
    for (const property of grouping) {
      key += `${String(property.at(zoom, feature, images))}|`;
      if (property.kind === 'composite') key += `${String(property.at(zoom + 1, feature, images))}|`;
    }
    return key;
  });
}
