/** Evaluates the text of a label. Pure. */

import { type Formatted, isExpression } from '@maplibre/maplibre-gl-style-spec';
import type { StyleLayer } from '../../style/compile.js';
import type { Property } from '../../style/property.js';
import type { Properties, TileFeature } from '../../tiles/vector-tile.js';

/** Longer texts are not names, and would be expensive to shape. */
const maxCharacters = 200;

/** Returns the text of a feature at a whole zoom, or an empty string. Lines are separated by `\n` and are distinct. */
export function labelText(layer: StyleLayer, feature: TileFeature, zoom: number): string {
  const field = layer.property<Formatted>('text-field');
  const value = field.at(zoom, feature).toString();
  const text = isTemplate(field) ? resolveTokens(value, feature.properties) : value;
  if (text.length > maxCharacters) return '';
  return transformed(
    tidy(text),
    layer.property<'none' | 'uppercase' | 'lowercase'>('text-transform').at(zoom, feature),
  );
}

/** Whether the value is a legacy token string, which refers to properties as `{name}`. */
export function isTemplate({ kind, text }: Pick<Property<unknown>, 'kind' | 'text'>): boolean {
  return (kind === 'constant' || kind === 'camera') && !isExpression(JSON.parse(text));
}

/**
 * Replaces `{name}` with the property of that name. A value is written only once, because `{name:latin}
 * {name:nonlatin}` often repeats one name.
 */
export function resolveTokens(template: string, properties: Properties): string {
  const used = new Set<unknown>();
  return template.replace(/{([^{}]+)}/g, (_token, name: string) => {
    const value = properties[name];
    if (value === undefined || used.has(value)) return '';
    used.add(value);
    return String(value);
  });
}

/** Trims lines, and removes empty and repeated ones. */
export function tidy(text: string): string {
  if (!/\s/.test(text)) return text;
  const lines = text.split(/[\r\n\u2028\u2029]+/).map((line) => line.replace(/\s+/g, ' ').trim());
  return [...new Set(lines)].filter((line) => line !== '').join('\n');
}

function transformed(text: string, transform: 'none' | 'uppercase' | 'lowercase'): string {
  if (transform === 'none') return text;
  return transform === 'uppercase' ? text.toUpperCase() : text.toLowerCase();
}
