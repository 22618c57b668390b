/**
 * Compiles a MapLibre style: filters and properties, without hidden layers.
 *
 * Input: a style (specification version 8) that passed {@link validateStyle}. Output: its layers from bottom to top.
 * Pure, except that equal layers are compiled once.
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
import { LRUCache } from 'lru-cache';
import type { TileFeature } from '../tiles/vector-tile.js';
import { type PlacementHints, placementHintsOf } from './placement-hints.js';
import { compileProperty, type GlobalState, type Property } from './property.js';
import { dependenciesOf, type PropertyDependencies } from './property-dependencies.js';

export type LayerType = LayerSpecification['type'];

/** Returns whether a feature is drawn at the whole zoom at or below the view's. */
export type Filter = (zoom: number) => (feature: TileFeature) => boolean;

/** A part of a filter. The filter passes features that pass all of its conditions. */
export interface Condition {
  /** Feature properties that the condition depends on. */
  readonly dependencies: PropertyDependencies;
  readonly filter: Filter;
}

export interface StyleLayer extends PlacementHints {
  readonly id: string;
  readonly type: LayerType;
  /** Null for a background. */
  readonly source: string | null;
  readonly sourceLayer: string | null;
  readonly filter: Filter;
  readonly conditions: readonly Condition[];
  /** Equal for layers that select the same features at each zoom. */
  readonly filterText: string;
  readonly filterDependsOnZoom: boolean;
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
  const stateText = JSON.stringify(state);
  const layers = derefLayers(style.layers) as LayerSpecification[];
  return {
    layers: layers.filter((layer) => isShown(layer, state)).map((layer) => sharedLayer(layer, state, stateText)),
  };
}

/** Maximum characters of JSON of each of the four caches. */
const maxKeptCharacters = 4 * 2 ** 20;

function keptByText<Value extends object>(): LRUCache<string, Value> {
  return new LRUCache({ maxSize: maxKeptCharacters, sizeCalculation: (_value, text) => text.length });
}

/**
 * Layers, filters, conditions and properties by their JSON. Styles share them, because a style takes megabytes by itself, and
 * languages and uploaded styles differ in few layers.
 */
const keptLayers = keptByText<StyleLayer>();
const keptFilters = keptByText<CompiledFilter>();
const keptConditions = keptByText<Condition>();
const keptProperties = keptByText<Property<unknown>>();

function shared<Value extends object>(kept: LRUCache<string, Value>, text: string, compile: () => Value): Value {
  let compiled = kept.get(text);
  if (!compiled) {
    compiled = compile();
    kept.set(text, compiled);
  }
  return compiled;
}

/** Returns the compiled layer of equal JSON in a style of equal state, of any style. */
function sharedLayer(layer: LayerSpecification, state: GlobalState, stateText: string): StyleLayer {
  return shared(keptLayers, `${stateText} ${JSON.stringify(layer)}`, () => compileLayer(layer, state, stateText));
}

function isShown(layer: LayerSpecification, state: GlobalState): boolean {
  return (
    createVisibilityExpression(layer.layout?.visibility ?? 'visible', `${layer.id}.visibility`, state).evaluate() ===
    'visible'
  );
}

function compileLayer(layer: LayerSpecification, state: GlobalState, stateText: string): StyleLayer {
  const properties = compileProperties(layer, state, stateText);
  // The functions below must not keep the JSON of the layer in memory.
  const { type, minzoom = 0, maxzoom = Infinity } = layer;
  const filter = 'filter' in layer ? layer.filter : undefined;
  return {
    id: layer.id,
    type,
    source: 'source' in layer ? layer.source : null,
    sourceLayer: ('source-layer' in layer ? layer['source-layer'] : undefined) ?? null,
    ...sharedFilter(filter, `${layer.id}.filter`, state, stateText),
    ...placementHintsOf(layer.metadata),
    isVisible: (zoom) => zoom >= minzoom && zoom < maxzoom,
    property<T>(name: string) {
      const property = properties.get(name);
      if (!property) throw new RangeError(`Layers of type ${type} have no property ${name}`);
      return property as Property<T>;
    },
  };
}

type CompiledFilter = Pick<StyleLayer, 'filter' | 'conditions' | 'filterText' | 'filterDependsOnZoom'>;

const filterSpecification = {
  type: 'boolean',
  default: false,
  transition: false,
  'property-type': 'data-driven',
  expression: { interpolated: false, parameters: ['zoom', 'feature'] },
} as unknown as StylePropertySpecification;

function sharedFilter(
  filter: FilterSpecification | undefined,
  place: string,
  state: GlobalState,
  stateText: string,
): CompiledFilter {
  const filterText = JSON.stringify(filter) ?? '';
  return shared(keptFilters, `${stateText} ${filterText}`, () => {
    const conditions = partsOf(filter).map((part) => {
      const text = JSON.stringify(part);
      return shared(keptConditions, `${stateText} ${text}`, () => ({
        dependencies: dependenciesOf(text),
        filter: compileFilter(part, place, state),
      }));
    });
    return {
      filter(zoom) {
        const filters = conditions.map((condition) => condition.filter(zoom));
        return (feature) => filters.every((passes) => passes(feature));
      },
      conditions,
      filterText,
      filterDependsOnZoom: mentionsZoom(filter),
    };
  });
}

/** Returns the conditions that an expression combines by `all`. A filter of the older form has one. */
function partsOf(filter: FilterSpecification | undefined): FilterSpecification[] {
  if (filter === undefined) return [];
  const isCombined = Array.isArray(filter) && filter[0] === 'all' && expression.isExpressionFilter(filter);
  return isCombined ? (filter.slice(1) as FilterSpecification[]).flatMap(partsOf) : [filter];
}

/** Compiles a condition. An expression that fails for a feature leaves it out in silence, as properties do. */
function compileFilter(filter: FilterSpecification, place: string, state: GlobalState): Filter {
  if (!expression.isExpressionFilter(filter)) {
    const compiled = featureFilter(filter, place, state);
    return (zoom) => (feature) => compiled.filter({ zoom }, feature);
  }
  const compiled = createExpression(filter, place, filterSpecification, state);
  if (compiled.result === 'error')
    throw new Error(compiled.value.map(({ key, message }) => `${key}: ${message}`).join(', '));
  return (zoom) => (feature) => {
    try {
      return compiled.value.evaluateWithoutErrorHandling({ zoom }, feature, {}) === true;
    } catch {
      return false;
    }
  };
}

function compileProperties(
  layer: LayerSpecification,
  state: GlobalState,
  stateText: string,
): Map<string, Property<unknown>> {
  const properties = new Map<string, Property<unknown>>();
  for (const group of ['layout', 'paint'] as const) {
    const specifications = latest[`${group}_${layer.type}`] as Record<string, StylePropertySpecification>;
    const values = (layer[group] ?? {}) as Record<string, unknown>;
    for (const [name, specification] of Object.entries(specifications)) {
      if (name === 'visibility') continue;
      const text = `${stateText} ${layer.type} ${name} ${JSON.stringify(values[name] ?? undefined)}`;
      const place = `${layer.id}.${group}.${name}`;
      const compile = () => compileProperty(values[name], place, specification, state);
      properties.set(name, shared(keptProperties, text, compile));
    }
  }
  return properties;
}

function mentionsZoom(expression: unknown): boolean {
  if (!Array.isArray(expression)) return false;
  return expression[0] === 'zoom' || expression.some(mentionsZoom);
}
