/**
 * Localizes a style: labels show names in one language first.
 *
 * Input: any MapLibre style, built in or uploaded. Output: the same style with its name getters replaced: expressions
 * (`["get", "name:latin"]`), tokens (`"{name}"`) and functions of stops. Conditions are unchanged.
 */

import type { ExpressionSpecification, LayerSpecification, StyleSpecification } from '@maplibre/maplibre-gl-style-spec';
import { expression } from './expressions.js';

/** The language value for local names, as written on signs. */
export const localLanguage = 'local';

/** Matches tags with names in a language or script. `pgf:` tags are in the encoding of a vendor's fonts. */
const nameKey = /^(?:pgf:)?name(?:[:_](?:int|latin|nonlatin|[a-z]{2,3}(?:-[A-Za-z]+)*))?$/;

/** Other tags with names in a language. */
const otherTags: Readonly<Record<string, readonly string[]>> = {
  zh: ['zh-Hans', 'zh-Hant'],
  nb: ['no'],
  no: ['nb'],
  he: ['iw'],
};

/** Ranges of the scripts that readers of a language know. The first letter decides about a name. */
const latinEnd = '\u0250';
const scriptRanges: Readonly<Record<string, readonly [first: string, end: string]>> = {
  Grek: ['\u0370', '\u0400'],
  Cyrl: ['\u0400', '\u0530'],
  Hebr: ['\u0590', '\u0600'],
  Arab: ['\u0600', '\u0780'],
  Deva: ['\u0900', '\u0980'],
  Thai: ['\u0e00', '\u0e80'],
  Jpan: ['\u3040', '\ua000'],
  Hans: ['\u3400', '\ua000'],
  Hant: ['\u3400', '\ua000'],
  Kore: ['\uac00', '\ud7b0'],
};

/** Returns a copy of the style with names in `language`: two letters, or {@link localLanguage}. */
export function localizeStyle(style: StyleSpecification, language: string): StyleSpecification {
  return { ...style, layers: style.layers.map((layer) => localizeLayer(layer, language)) };
}

function localizeLayer(layer: LayerSpecification, language: string): LayerSpecification {
  const field: unknown = layer.type === 'symbol' ? layer.layout?.['text-field'] : undefined;
  if (field === undefined) return layer;
  return { ...layer, layout: { ...layer.layout, 'text-field': localizeField(field, language) } } as LayerSpecification;
}

function localizeField(field: unknown, language: string): unknown {
  if (typeof field === 'string') return localizeTokens(field, language);
  if (Array.isArray(field)) return localizeExpression(field, language);
  return localizeStops(field as { readonly stops?: unknown }, language);
}

/** Localizes a token string such as `"{name} {ref}"`. Other text is unchanged. */
function localizeTokens(text: string, language: string): unknown {
  return hasNameToken(text) ? expressionOf(text, language) : text;
}

/** Localizes a legacy function of zoom. A function of a property contains no getters. */
function localizeStops(field: { readonly stops?: unknown }, language: string): unknown {
  const stops = field.stops as readonly (readonly [zoom: unknown, text: unknown])[] | undefined;
  if (!stops?.every(([zoom, text]) => typeof zoom === 'number' && typeof text === 'string')) return field;
  if (!stops.some(([, text]) => hasNameToken(text as string))) return field;
  const [first, ...others] = stops.map(([zoom, text]) => [zoom, expressionOf(text as string, language)]);
  return expression('step', ['zoom'], first![1], ...others.flat());
}

const token = /\{([^{}]+)\}/;

function hasNameToken(text: string): boolean {
  return text.split(token).some((part, i) => i % 2 === 1 && nameKey.test(part));
}

/** Converts a token string to an expression. */
function expressionOf(text: string, language: string): ExpressionSpecification {
  const parts = text.split(token).map((part, i) => (i % 2 === 0 ? part : inLanguage(part, language)));
  return expression('concat', ...parts.filter((part) => part !== ''));
}

function localizeExpression(value: unknown, language: string): unknown {
  if (!Array.isArray(value) || value[0] === 'literal') return value;
  const [operator, key] = value;
  if (operator === 'get' && value.length === 2 && typeof key === 'string' && nameKey.test(key))
    return inLanguage(key, language);
  return value.map((part) => localizeExpression(part, language));
}

/** Returns the replacement of a name getter. Without any name it is null, as before, so that fallbacks apply. */
function inLanguage(key: string, language: string): ExpressionSpecification {
  if (!nameKey.test(key)) return expression('get', key);
  const original = key.replace(/^pgf:/, '');
  if (language === localLanguage) return expression('coalesce', ['get', 'name'], ['get', original]);
  const keys = [language, ...(otherTags[language] ?? [])].flatMap(keysOf);
  return expression('coalesce', ...keys.map((each) => ['get', each]), ['get', readableKey(original, language)]);
}

/** A name in a script that readers do not know is replaced by the English one, if it exists. */
function readableKey(original: string, language: string): unknown {
  if (language === 'en') return original;
  const text = expression('to-string', ['get', original]);
  const isLatin = expression('<', text, latinEnd);
  const script = scriptRanges[new Intl.Locale(language).maximize().script ?? ''];
  const isReadable = script
    ? expression('any', isLatin, ['all', ['>=', text, script[0]], ['<', text, script[1]]])
    : isLatin;
  return expression('case', isReadable, original, ...keysOf('en').flatMap((each) => [['has', each], each]), original);
}

function keysOf(language: string): string[] {
  return [`name:${language}`, `name_${language}`];
}
