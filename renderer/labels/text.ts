/** What a label says. Pure. */

import { type Formatted, isExpression } from '@maplibre/maplibre-gl-style-spec';
import type { StyleLayer } from '../style/compile.js';
import type { Property } from '../style/property.js';
import type { Properties, TileFeature } from '../tiles/vector-tile.js';

/** A longer text is no name; it would cost more than it tells. */
const maxCharacters = 200;

/**
 * The text of a layer's feature at a whole zoom; empty for none. Lines are separated by `\n`, and none is there twice.
 */
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

/** Text from before there were expressions, in which braces stand around a property's name. */
export function isTemplate({ kind, text }: Pick<Property<unknown>, 'kind' | 'text'>): boolean {
  return (kind === 'constant' || kind === 'camera') && !isExpression(JSON.parse(text));
}

/**
 * `{name}` is the property of that name. What an earlier token said isn't said again: `{name:latin} {name:nonlatin}` is
 * often one name twice.
 */
export function resolveTokens(template: string, properties: Properties): string {
  const said = new Set<unknown>();
  return template.replace(/{([^{}]+)}/g, (_token, name: string) => {
    const value = properties[name];
    if (value === undefined || said.has(value)) return '';
    said.add(value);
    return String(value);
  });
}

/** Lines without empty and repeated ones, and without space around them. */
export function tidy(text: string): string {
  if (!/\s/.test(text)) return text;
  const lines = text.split(/[\r\n\u2028\u2029]+/).map((line) => line.replace(/\s+/g, ' ').trim());
  return [...new Set(lines)].filter((line) => line !== '').join('\n');
}

function transformed(text: string, transform: 'none' | 'uppercase' | 'lowercase'): string {
  if (transform === 'none') return text;
  return transform === 'uppercase' ? text.toUpperCase() : text.toLowerCase();
}
