/** Finds images that a style names and its sprites lack. Pure. */
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec';
import { imageProperties, type Unsupported } from '../style/unsupported.js';

/**
 * Finds missing constant names. The values of expressions and templates depend on features, and they may have a
 * fallback.
 */
export function missingNames({ layers }: StyleSpecification, names: ReadonlySet<string>): Unsupported[] {
  return layers.flatMap((layer) =>
    Object.entries({ ...layer.layout, ...layer.paint }).flatMap(([property, value]): Unsupported[] => {
      const name = imageProperties.includes(property) ? nameSaid(value) : null;
      if (name === null || names.has(name)) return [];
      return [{ layer: layer.id, property, message: `The sprite has no image "${name}"` }];
    }),
  );
}

function nameSaid(value: unknown): string | null {
  if (Array.isArray(value)) return value[0] === 'image' && value.length === 2 ? nameSaid(value[1]) : null;
  return typeof value === 'string' && value !== '' && !value.includes('{') ? value : null;
}
