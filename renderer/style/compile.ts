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

/** A type of layer in the style specification. */
export type LayerType = LayerSpecification['type'];

/** Returns whether a feature is drawn at the whole zoom at or below the view's. */
type Filter = (zoom: number) => (feature: TileFeature) => boolean;

/** What a filter asks of a feature. Filters share those of equal JSON. */
export interface FeatureValue {
  /** Feature properties that the value depends on. */
  readonly dependencies: PropertyDependencies;
  /** Returns the same function at each zoom, unless the value depends on it. Its results are not undefined. */
  at(zoom: number): (feature: TileFeature) => unknown;
}

/** A part of a filter: the value is one of those accepted. The filter passes features that meet all conditions. */
interface Condition {
  readonly value: FeatureValue;
  readonly accepted: ReadonlySet<unknown>;
}

/** A layer whose filter and properties are compiled. Maps share it. */
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

/** A style that is ready to be drawn. */
export interface CompiledStyle {
  /** From bottom to top. */
  readonly layers: readonly StyleLayer[];
}

/** A problem of a style. */
interface StyleError {
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
 * Layers, filters, their values and properties by their JSON. Styles share them, because a style takes megabytes by
 * itself, and languages and uploaded styles differ in few layers.
 */
const keptLayers = keptByText<StyleLayer>();
const keptFilters = keptByText<CompiledFilter>();
const keptValues = keptByText<FeatureValue>();
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
  const { type, minzoom = 0 } = layer;
  // MapLibre GL JS treats a `maxzoom` of 0 as none.
  const maxzoom = layer.maxzoom || Infinity;
  const filter = 'filter' in layer ? layer.filter : undefined;
  return {
    id: layer.id,
    type,
    source: 'source' in layer ? layer.source : null,
    sourceLayer: ('source-layer' in layer ? layer['source-layer'] : undefined) ?? null,
    ...sharedFilter(filter, `${layer.id}.filter`, state, stateText),
    ...placementHintsOf(layer.metadata),
    // The lowest zoom of styles is 0. A view that is fitted may have a lower one.
    isVisible: (zoom) => Math.max(0, zoom) >= minzoom && zoom < maxzoom,
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
    const conditions = partsOf(filter).map((part) => conditionOf(part, place, state, stateText));
    return {
      filter: (zoom) => (feature) => conditions.every(({ value, accepted }) => accepted.has(value.at(zoom)(feature))),
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

const onlyTrue: ReadonlySet<unknown> = new Set([true]);

/**
 * Compiles a condition. Layers often ask which kind a feature has, each for other kinds: `match` with the same input
 * and other labels. So the input is a value that they share.
 */
function conditionOf(part: FilterSpecification, place: string, state: GlobalState, stateText: string): Condition {
  const isChoice =
    Array.isArray(part) && part.length === 5 && part[0] === 'match' && part[3] === true && part[4] === false;
  const asked: unknown = isChoice ? part[1] : part;
  const text = JSON.stringify(asked);
  const value = shared(keptValues, `${stateText} ${isChoice} ${text}`, () => {
    const evaluate = isChoice ? compileExpression(asked, place, undefined, state) : compileFilter(part, place, state);
    const at = (zoom: number) => (feature: TileFeature) => evaluate({ zoom }, feature);
    const atAnyZoom = mentionsZoom(asked) ? undefined : at(0);
    return { dependencies: dependenciesOf(text), at: (zoom) => atAnyZoom ?? at(zoom) };
  });
  return { value, accepted: isChoice ? new Set([part[2]].flat()) : onlyTrue };
}

const compileFilter = (filter: FilterSpecification, place: string, state: GlobalState): Evaluate =>
  expression.isExpressionFilter(filter)
    ? compileExpression(filter, place, filterSpecification, state)
    : featureFilter(filter, place, state).filter;

type Evaluate = (globals: { readonly zoom: number }, feature: TileFeature) => unknown;

/** Compiles an expression. It gives null where it fails for a feature, in silence, as properties do. */
function compileExpression(
  value: unknown,
  place: string,
  specification: StylePropertySpecification | undefined,
  state: GlobalState,
): Evaluate {
  const compiled = createExpression(value, place, specification, state);
  if (compiled.result === 'error')
    throw new Error(compiled.value.map(({ key, message }) => `${key}: ${message}`).join(', '));
  return (globals, feature) => {
    try {
      return compiled.value.evaluateWithoutErrorHandling(globals, feature, {}, feature.tileId as never) ?? null;
    } catch {
      return null;
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
