/** A paint or layout property of a style layer: a constant, or an expression of zoom, feature or both. */
import {
  normalizePropertyExpression,
  type StyleExpression,
  type StylePropertySpecification,
} from '@maplibre/maplibre-gl-style-spec';
import type { TileFeature } from '../tiles/vector-tile.js';
import { dependenciesOf, type PropertyDependencies } from './property-dependencies.js';

/** A property whose value may depend on zoom and feature. */
export interface Property<T> {
  /** `camera` depends on the zoom, `source` on the feature, `composite` on both. */
  readonly kind: 'constant' | 'camera' | 'source' | 'composite';
  /** The value in the style as JSON, to compare properties by. */
  readonly text: string;
  /** Whether its values are image names, which depend on the existing images. */
  readonly isImage: boolean;
  /** Feature properties that its values depend on. */
  readonly dependencies: PropertyDependencies;
  /**
   * Returns a value of the type in the style specification, or its default if the expression fails. `images` are the
   * names of existing images.
   */
  at(zoom: number, feature?: TileFeature, images?: string[]): T;
  /** Returns a value along a line, at a share of its length, 0 to 1. Only of `line-gradient`. */
  along?(share: number): T;
}

/** Returns whether the value depends on the feature. */
export function isPerFeature(property: Property<unknown>): boolean {
  return property.kind === 'source' || property.kind === 'composite';
}

/** The style's state, which expressions read by `global-state`. */
export type GlobalState = Record<string, unknown>;

/**
 * Compiles a property. Throws for an invalid expression. `place` is its position in the style. An expression that fails
 * for a feature gives the default in silence: the library would log the data of tiles, line by line.
 */
export function compileProperty(
  value: unknown,
  place: string,
  specification: StylePropertySpecification,
  state: GlobalState,
): Property<unknown> {
  const given = value ?? ('default' in specification ? specification.default : undefined);
  const expression = normalizePropertyExpression(given as never, place, specification, state);
  const text = JSON.stringify(given) ?? '';
  const { kind } = expression;
  if (specification['property-type'] === 'color-ramp') {
    const along = (share: number): unknown => expression.evaluate({ zoom: 0, lineProgress: share });
    return { kind, text, isImage: false, dependencies: none, at: () => given, along };
  }
  if (kind === 'constant' && !isImage(specification)) {
    const constant: unknown = expression.evaluate({ zoom: 0 });
    return { kind, text, isImage: false, dependencies: none, at: () => constant };
  }
  const fallback = kind === 'constant' ? undefined : defaultOf(place, specification);
  const at: Property<unknown>['at'] = (zoom, feature, images) => {
    if (!hasErrors(expression)) return expression.evaluate({ zoom }, feature);
    try {
      const value = expression.evaluateWithoutErrorHandling(
        { zoom },
        feature,
        undefined,
        feature?.tileId as never,
        images,
      );
      return isOfType(value, specification) ? value : fallback;
    } catch {
      return fallback;
    }
  };
  return {
    kind,
    text,
    isImage: isImage(specification),
    dependencies: kind === 'source' || kind === 'composite' ? dependenciesOf(text) : none,
    at: kind === 'camera' ? lastOf(at) : at,
  };
}

const none: PropertyDependencies = new Set();

/** Remembers the value of the last zoom, which features of a layer share. It may depend on the images. */
function lastOf(at: Property<unknown>['at']): Property<unknown>['at'] {
  let last: { readonly zoom: number; readonly images: unknown; readonly value: unknown } | undefined;
  return (zoom, feature, images) => {
    if (last?.zoom !== zoom || last.images !== images) last = { zoom, images, value: at(zoom, feature, images) };
    return last.value;
  };
}

/** Returns whether the errors of an expression can be caught. A legacy function has none that depend on features. */
function hasErrors(expression: object): expression is Pick<StyleExpression, 'evaluateWithoutErrorHandling'> {
  return 'evaluateWithoutErrorHandling' in expression;
}

const isImage = ({ type }: StylePropertySpecification): boolean => (type as string) === 'resolvedImage';

function defaultOf(place: string, specification: StylePropertySpecification): unknown {
  if (!('default' in specification) || isImage(specification)) return undefined;
  return normalizePropertyExpression(specification.default as never, place, specification, {}).evaluate({ zoom: 0 });
}

/** Returns whether an expression's value may be used. Null, NaN and unknown names of enumerations may not. */
function isOfType(value: unknown, specification: StylePropertySpecification): boolean {
  if (value === null || value === undefined || Number.isNaN(value)) return false;
  return specification.type !== 'enum' || !specification.values || (value as string) in specification.values;
}
