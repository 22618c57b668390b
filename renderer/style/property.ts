/** One paint or layout property of a style layer: a constant, or an expression of zoom, feature or both. */

import { normalizePropertyExpression, type StylePropertySpecification } from '@maplibre/maplibre-gl-style-spec';
import type { TileFeature } from '../tiles/vector-tile.js';

export interface Property<T> {
  /** `camera` depends on the zoom, `source` on the feature, `composite` on both. */
  readonly kind: 'constant' | 'camera' | 'source' | 'composite';
  /** The value as the style gives it, to compare properties by. */
  readonly text: string;
  /** Whether its values are names of images, and so depend on which there are. */
  readonly isImage: boolean;
  /**
   * A value of the type that the style specification says, its default if the expression fails. `images` are the names
   * of those that there are.
   */
  at(zoom: number, feature?: TileFeature, images?: string[]): T;
}

export function isPerFeature(property: Property<unknown>): boolean {
  return property.kind === 'source' || property.kind === 'composite';
}

/** The style's own state, which expressions may read by `global-state`. */
export type GlobalState = Record<string, unknown>;

/** Throws on an expression that doesn't compile; `place` says where it stands in the style. */
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
  if ((specification.type as string) === 'resolvedImage') {
    const at: Property<unknown>['at'] = (zoom, feature, images) =>
      expression.evaluate({ zoom }, feature, undefined, undefined, images);
    return { kind, text, isImage: true, at };
  }
  if (kind === 'constant') {
    const constant: unknown = expression.evaluate({ zoom: 0 });
    return { kind, text, isImage: false, at: () => constant };
  }
  return { kind, text, isImage: false, at: (zoom, feature) => expression.evaluate({ zoom }, feature) };
}
