/**
 * Evaluates filters and properties once for features that they cannot tell apart: same type, same values of the
 * properties they depend on. A dense tile has thousands of features of a few dozen kinds.
 */

import type { TileFeature, TileLayer } from '../tiles/vector-tile.js';
import type { StyleLayer } from './compile.js';
import type { PropertyDependencies } from './property-dependencies.js';

/**
 * Returns a function with the results of `evaluate`, which is called once per kind of feature, as long as the layer is
 * kept. `evaluate` may read only the type and the `dependencies` of a feature.
 */
export function memoizeByDependencies<Value>(
  layer: TileLayer,
  dependencies: PropertyDependencies,
  evaluate: (feature: TileFeature) => Value,
): (feature: TileFeature) => Value {
  if (!dependencies) return evaluate;
  const kinds = layer.kinds(dependencies);
  const values = kinds.valuesOf(evaluate);
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
 * Returns the features of a tile that pass a layer's filter at a whole zoom. A condition on the names of features tells
 * all of them apart, so it is evaluated apart from the others, and for few of them.
 */
export function passingFeatures(tileLayer: TileLayer, { conditions }: StyleLayer, zoom: number): TileFeature[] {
  let features = [...tileLayer.features];
  for (const { value, accepted } of conditions) {
    const evaluate = memoizeByDependencies(tileLayer, value.dependencies, value.at(zoom));
    features = features.filter((feature) => accepted.has(evaluate(feature)));
  }
  return features;
}
