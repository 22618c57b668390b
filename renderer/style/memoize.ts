/**
 * Evaluates filters and properties once for features that they cannot tell apart: same type, same values of the
 * properties they depend on. A dense tile has thousands of features of a few dozen kinds.
 */
import type { Kinds } from '../tiles/kinds.js';
import type { TileFeature, TileLayer } from '../tiles/vector-tile.js';
import type { FeatureValue, StyleLayer } from './compile.js';
import type { PropertyDependencies } from './property-dependencies.js';

/**
 * Returns a function with the results of `evaluate`, which is called once per kind of feature. `evaluate` may read only
 * the type and the `dependencies` of a feature.
 */
export function memoizeByDependencies<Value>(
  layer: TileLayer,
  dependencies: PropertyDependencies,
  evaluate: (feature: TileFeature) => Value,
): (feature: TileFeature) => Value {
  return dependencies ? memoized(layer.kinds(dependencies), [], evaluate) : evaluate;
}

/** `values` are the results by kind, as far as they are known. */
function memoized<Value>(
  kinds: Kinds,
  values: (Value | undefined)[],
  evaluate: (feature: TileFeature) => Value,
): (feature: TileFeature) => Value {
  return (feature) => {
    const kind = kinds.of(feature);
    let value = values[kind];
    if (value === undefined) {
      value = evaluate(feature);
      values[kind] = value;
    }
    return value;
  };
}

/**
 * Returns a function that returns those of a tile's features that pass a layer's filter at a whole zoom. A condition on
 * the names of features tells all of them apart, so it is evaluated apart from the others, and for few of them.
 */
export function passingFeatures(
  tileLayer: TileLayer,
  { conditions }: StyleLayer,
  zoom: number,
): (features: readonly TileFeature[]) => readonly TileFeature[] {
  const filters = conditions.map(({ value, accepted }) => {
    const evaluate = valuesInTile(tileLayer, value, zoom);
    const passes = (feature: TileFeature) => accepted.has(evaluate(feature));
    return memoizeByDependencies(tileLayer, value.dependencies, passes);
  });
  return (features) => filters.reduce((passing, passes) => passing.filter(passes), features);
}

/** Returns a function with the values of features, which the tile keeps. */
function valuesInTile(tileLayer: TileLayer, { dependencies, at }: FeatureValue, zoom: number) {
  const evaluate = at(zoom);
  if (!dependencies) return evaluate;
  const kinds = tileLayer.kinds(dependencies);
  return memoized(kinds, kinds.valuesOf(evaluate), evaluate);
}
