/**
 * Localizes a style: labels show names in one language first.
 *
 * Input: any MapLibre style, built in or uploaded. Output: the same style with its name getters replaced: expressions
 * (`["get", "name:latin"]`), tokens (`"{name}"`) and functions of stops. Conditions are unchanged.
 */
import type { ExpressionSpecification, LayerSpecification, StyleSpecification } from '@maplibre/maplibre-gl-style-spec';
import { expression } from './expressions.js';

/** The language value for local names, as written on signs. */
const nativeLanguage = 'native';

/** Matches tags with names in a language or script. `pgf:` tags are in the encoding of a vendor's fonts. */
const nameKey = /^(?:pgf:)?name(?:[:_](?:int|latin|nonlatin|[a-z]{2,3}(?:-[A-Za-z]+)*))?$/;

/** Tags with names in a language, in order. Names tagged `zh` alone are in simplified or traditional characters. */
const tags: Readonly<Record<string, readonly string[]>> = {
  zh: ['zh-Hans', 'zh', 'zh-Hant'],
  'zh-Hant': ['zh-Hant', 'zh', 'zh-Hans'],
  nb: ['nb', 'no'],
  no: ['no', 'nb'],
  he: ['he', 'iw'],
};

/**
 * Ranges of the scripts that belong to one language or few. A local name in such a script needs no tag to be in the
 * language. The first letter decides.
 */
const scriptRanges: Readonly<Record<string, readonly [first: string, end: string]>> = {
  Grek: ['\u0370', '\u0400'],
  Armn: ['\u0530', '\u0590'],
  Hebr: ['\u0590', '\u0600'],
  Beng: ['\u0980', '\u0a00'],
  Guru: ['\u0a00', '\u0a80'],
  Gujr: ['\u0a80', '\u0b00'],
  Orya: ['\u0b00', '\u0b80'],
  Taml: ['\u0b80', '\u0c00'],
  Telu: ['\u0c00', '\u0c80'],
  Knda: ['\u0c80', '\u0d00'],
  Mlym: ['\u0d00', '\u0d80'],
  Sinh: ['\u0d80', '\u0e00'],
  Thai: ['\u0e00', '\u0e80'],
  Laoo: ['\u0e80', '\u0f00'],
  Tibt: ['\u0f00', '\u1000'],
  Mymr: ['\u1000', '\u10a0'],
  Geor: ['\u10a0', '\u1100'],
  Khmr: ['\u1780', '\u1800'],
  Jpan: ['\u3040', '\ua000'],
  Hans: ['\u3400', '\ua000'],
  Hant: ['\u3400', '\ua000'],
  Kore: ['\uac00', '\ud7b0'],
};

/** The language of a map. */
interface Wanted {
  readonly language: string;
  /** Whether local names are in the language, so that they come before English ones. */
  readonly isSpoken: boolean;
}

/**
 * Returns a copy of the style with names in `language`: two letters, `zh-Hant`, or {@link nativeLanguage}. `isSpoken`
 * tells whether it is that of local names.
 */
export function localizeStyle(style: StyleSpecification, language: string, isSpoken = false): StyleSpecification {
  const wanted = { language, isSpoken };
  return { ...style, layers: style.layers.map((layer) => localizeLayer(layer, wanted)) };
}

function localizeLayer(layer: LayerSpecification, wanted: Wanted): LayerSpecification {
  const field: unknown = layer.type === 'symbol' ? layer.layout?.['text-field'] : undefined;
  if (field === undefined) return layer;
  return { ...layer, layout: { ...layer.layout, 'text-field': localizeField(field, wanted) } } as LayerSpecification;
}

function localizeField(field: unknown, wanted: Wanted): unknown {
  if (typeof field === 'string') return localizeTokens(field, wanted);
  if (Array.isArray(field)) return localizeExpression(field, wanted);
  return localizeStops(field as { readonly stops?: unknown }, wanted);
}

/** Localizes a token string such as `"{name} {ref}"`. Other text is unchanged. */
function localizeTokens(text: string, wanted: Wanted): unknown {
  return hasNameToken(text) ? expressionOf(text, wanted) : text;
}

/** Localizes a legacy function of zoom. A function of a property contains no getters. */
function localizeStops(field: { readonly stops?: unknown }, wanted: Wanted): unknown {
  const stops = field.stops as readonly (readonly [zoom: unknown, text: unknown])[] | undefined;
  if (!stops?.every(([zoom, text]) => typeof zoom === 'number' && typeof text === 'string')) return field;
  if (!stops.some(([, text]) => hasNameToken(text as string))) return field;
  const [first, ...others] = stops.map(([zoom, text]) => [zoom, expressionOf(text as string, wanted)]);
  return expression('step', ['zoom'], first![1], ...others.flat());
}

const token = /\{([^{}]+)\}/;

function hasNameToken(text: string): boolean {
  return text.split(token).some((part, i) => i % 2 === 1 && nameKey.test(part));
}

/** Converts a token string to an expression. */
function expressionOf(text: string, wanted: Wanted): ExpressionSpecification {
  const parts = text.split(token).map((part, i) => (i % 2 === 0 ? part : inLanguage(part, wanted)));
  return expression('concat', ...withoutRepeats(parts.filter((part) => part !== '')));
}

function localizeExpression(value: unknown, wanted: Wanted): unknown {
  if (!Array.isArray(value) || value[0] === 'literal') return value;
  const [operator, key] = value;
  if (operator === 'get' && value.length === 2 && typeof key === 'string' && nameKey.test(key))
    return inLanguage(key, wanted);
  const [, ...parts] = operator === 'concat' ? withNestedParts(value) : value;
  const localized = parts.map((part: unknown) => localizeExpression(part, wanted));
  return [operator, ...(operator === 'concat' || operator === 'format' ? withoutRepeats(localized) : localized)];
}

/** Returns a concatenation with the parts of the concatenations in it, so that each name is a part. */
function withNestedParts(value: readonly unknown[]): unknown[] {
  return value.flatMap((part) =>
    Array.isArray(part) && part[0] === 'concat' ? withNestedParts(part).slice(1) : [part],
  );
}

/** Number of names that a part is compared with. Labels have few; a list of thousands would grow by its square. */
const maxCompared = 10;

/** Replaces each name by nothing where an earlier part shows it already. Other parts may repeat. */
function withoutRepeats(parts: readonly unknown[]): unknown[] {
  const names: unknown[] = [];
  return parts.map((part) => {
    if (!showsName(part)) return part;
    const text = ['to-string', part];
    const repeats = names.map((name) => ['==', name, text]);
    if (names.length < maxCompared) names.push(text);
    return repeats.length === 0 ? part : ['case', ['any', ...repeats], '', text];
  });
}

function showsName(value: unknown): boolean {
  if (!Array.isArray(value) || value[0] === 'literal' || value[0] === 'has') return false;
  if (value[0] === 'get' && typeof value[1] === 'string') return nameKey.test(value[1]);
  return value.some(showsName);
}

/**
 * Returns the replacement of a name getter: the name in the language, in English, or as it is on signs. Without any it
 * is null, as before, so that fallbacks apply. A name of the local script beside it stays.
 */
function inLanguage(key: string, { language, isSpoken }: Wanted): ExpressionSpecification {
  if (!nameKey.test(key) || isNonLatin(key)) return expression('get', key);
  const original = key.replace(/^pgf:/, '');
  // Tiles of tilemaker's own process have this name only.
  const only = ['get', 'name:latin'];
  if (language === nativeLanguage) return expression('coalesce', ['get', 'name'], ['get', original], only);
  const keys = (tags[language] ?? [language]).flatMap(keysOf).map((each) => ['get', each]);
  const english = keysOf('en').map((each) => ['get', each]);
  const local = isSpoken ? [['get', 'name']] : localIn(language, original);
  return expression('coalesce', ...keys, ...local, ...english, ['get', original], only);
}

const isNonLatin = (key: string): boolean => /[:_]nonlatin$/.test(key);

/** Returns a getter of the local name if its script belongs to the language; otherwise it gives null. */
function localIn(language: string, key: string): unknown[] {
  const range = scriptRanges[new Intl.Locale(language).maximize().script ?? ''];
  if (!range) return [];
  const text = ['to-string', ['get', key]];
  const [first, end] = range;
  return [['get', ['case', ['all', ['>=', text, first], ['<', text, end]], key, '']]];
}

function keysOf(language: string): string[] {
  return [`name:${language}`, `name_${language}`];
}
