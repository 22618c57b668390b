/**
 * Compiles a MapLibre style: filters and properties, without hidden layers.
 *
 * Input: a style (specification version 8) that passed {@link validateStyle}. Output: its layers from bottom to top.
 * Pure.
 */

import {
  createExpression,
  createVisibilityExpression,
  derefLayers,
  expression,
  type FilterSpecification,
  featureFilter,
  type LayerSpecification,
  latest,
  type StylePropertySpecification,
  type StyleSpecification,
  validateStyleMin,
} from '@maplibre/maplibre-gl-style-spec';
import type { TileFeature } from '../tiles/vector-tile.js';
import { type PlacementHints, placementHintsOf } from './placement-hints.js';
import { compileProperty, type GlobalState, type Property } from './property.js';
import { dependenciesOf, type PropertyDependencies } from './property-dependencies.js';

export type LayerType = LayerSpecification['type'];

/** Returns whether a feature is drawn at the whole zoom at or below the view's. */
export type Filter = (zoom: number) => (feature: TileFeature) => boolean;

export interface StyleLayer extends PlacementHints {
  readonly id: string;
  readonly type: LayerType;
  /** Null for a background. */
  readonly source: string | null;
  readonly sourceLayer: string | null;
  readonly filter: Filter;
  /** Equal for layers that select the same features at each zoom. */
  readonly filterText: string;
  readonly filterDependsOnZoom: boolean;
  /** Feature properties that the filter depends on. */
  readonly filterDependencies: PropertyDependencies;
  /** Returns whether the layer is drawn at this zoom. */
  isVisible(zoom: number): boolean;
  /**
   * Returns a paint or layout property by its full name, such as `line-width`, or its default. Throws for a name of
   * another layer type.
   */
  property<T>(name: string): Property<T>;
}

export interface CompiledStyle {
  /** From bottom to top. */
  readonly layers: readonly StyleLayer[];
}

/** A problem of a style. */
export interface StyleError {
  /** For example `layers[3].paint.line-width`. */
  readonly field: string;
  readonly message: string;
}

/** Returns the violations of the style specification; empty for a valid style. */
export function validateStyle(style: unknown): StyleError[] {
  return validateStyleMin(style as StyleSpecification).map(({ message }) => {
    const colon = message.indexOf(': ');
    return { field: message.slice(0, Math.max(0, colon)), message: message.slice(colon < 0 ? 0 : colon + 2) };
  });
}

/** Compiles a style. Throws for an invalid expression, which {@link validateStyle} reports. */
export function compileStyle(style: StyleSpecification): CompiledStyle {
  const state = Object.fromEntries(
    Object.entries(style.state ?? {}).map(([name, { default: value }]) => [name, value]),
  );
  const layers = derefLayers(style.layers) as LayerSpecification[];
  return { layers: layers.filter((layer) => isShown(layer, state)).map((layer) => compileLayer(layer, state)) };
}

function isShown(layer: LayerSpecification, state: GlobalState): boolean {
  return (
    createVisibilityExpression(layer.layout?.visibility ?? 'visible', `${layer.id}.visibility`, state).evaluate() ===
    'visible'
  );
}

function compileLayer(layer: LayerSpecification, state: GlobalState): StyleLayer {
  const properties = compileProperties(layer, state);
  const { minzoom = 0, maxzoom = Infinity } = layer;
  const filter = 'filter' in layer ? layer.filter : undefined;
  const filterText = JSON.stringify(filter) ?? '';
  const compiled = compileFilter(filter, `${layer.id}.filter`, state);
  return {
    id: layer.id,
    type: layer.type,
    source: 'source' in layer ? layer.source : null,
    sourceLayer: ('source-layer' in layer ? layer['source-layer'] : undefined) ?? null,
    filter(zoom) {
      const globals = { zoom };
      return (feature) => compiled(globals, feature);
    },
    filterText,
    filterDependsOnZoom: mentionsZoom(filter),
    filterDependencies: dependenciesOf(filterText),
    ...placementHintsOf(layer.metadata),
    isVisible: (zoom) => zoom >= minzoom && zoom < maxzoom,
    property<T>(name: string) {
      const property = properties.get(name);
      if (!property) throw new RangeError(`Layers of type ${layer.type} have no property ${name}`);
      return property as Property<T>;
    },
  };
}

type CompiledFilter = (globals: { readonly zoom: number }, feature: TileFeature) => boolean;

const filterSpecification = {
  type: 'boolean',
  default: false,
  transition: false,
  'property-type': 'data-driven',
  expression: { interpolated: false, parameters: ['zoom', 'feature'] },
} as unknown as StylePropertySpecification;

/** Compiles a filter. An expression that fails for a feature leaves it out in silence, as properties do. */
function compileFilter(filter: FilterSpecification | undefined, place: string, state: GlobalState): CompiledFilter {
  if (filter === undefined || !expression.isExpressionFilter(filter)) return featureFilter(filter, place, state).filter;
  const compiled = createExpression(filter, place, filterSpecification, state);
  if (compiled.result === 'error')
    throw new Error(compiled.value.map(({ key, message }) => `${key}: ${message}`).join(', '));
  return (globals, feature) => {
    try {
      return compiled.value.evaluateWithoutErrorHandling(globals, feature, {}) === true;
    } catch {
      return false;
    }
  };
}

function compileProperties(layer: LayerSpecification, state: GlobalState): Map<string, Property<unknown>> {
  const properties = new Map<string, Property<unknown>>();
  for (const group of ['layout', 'paint'] as const) {
    const specifications = latest[`${group}_${layer.type}`] as Record<string, StylePropertySpecification>;
    const values = (layer[group] ?? {}) as Record<string, unknown>;
    for (const [name, specification] of Object.entries(specifications)) {
      if (name === 'visibility') continue;
      properties.set(name, compileProperty(values[name], `${layer.id}.${group}.${name}`, specification, state));
    }
  }
  return properties;
}

function mentionsZoom(expression: unknown): boolean {
  if (!Array.isArray(expression)) return false;
  return expression[0] === 'zoom' || expression.some(mentionsZoom);
}
