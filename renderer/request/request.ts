/**
 * Reads the query of a static map. Returns the first parameter that breaks its rule.
 *
 * Input: the decoded query; docs/maps.md has the rules. Output: a {@link MapQuery}. Pure.
 */
import { invalid, type Validated } from '../../schemas/errors.js';
import { builtInStyles, styleNamed } from '../styles/names.js';
import type { ImageFormat, MapRequest, MarkerGroup, PathOverlay } from '../types.js';
import { readCamera } from './camera.js';
import { defaultLanguage, deviceLanguage, languageOf } from './languages.js';
import { readMarkers } from './markers.js';
import { readNumber } from './numbers.js';
import { readPath } from './path.js';

/** A repeated parameter is a list, as query parsers return it. */
export type Query = Readonly<Record<string, unknown>>;

/** The request, without the geofences of its tag, which the caller must find. */
interface MapQuery {
  readonly request: Omit<MapRequest, 'fences'>;
  readonly geofenceTag: string | null;
}

/** Headers of the request that decide what the query leaves open. */
interface Preferences {
  readonly accept?: string | undefined;
  readonly 'accept-language'?: string | undefined;
}

const formats: Readonly<Record<string, ImageFormat>> = { png: 'png', webp: 'webp', jpg: 'jpg', jpeg: 'jpg' };
const sizeRule = { minimum: 100, maximum: 2_048, unit: 'pixels' } as const;
const maxOverlays = 100;
const maxLocations = 10_000;

/** Returns the non-empty values of a parameter that may be repeated. */
const textsOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter(
    (text): text is string => typeof text === 'string' && text.trim() !== '',
  );

/** Returns the last value of a parameter that is not meant to be repeated. */
const textOf = (value: unknown): string | undefined => textsOf(value).at(-1)?.trim();

/** Returns the last value of a parameter whose emptiness is an error: the default would hide a mistake. */
const singleOf = (value: unknown): string | undefined => {
  const text = [value].flat().at(-1);
  return typeof text === 'string' ? text.trim() : undefined;
};

/** Reads a query. `Accept` decides the format when no parameter does, and `Accept-Language` what `local` is. */
export function readMapQuery(query: Query, preferences: Preferences = {}): Validated<MapQuery> {
  const width = readNumber('width', textOf(query.width), sizeRule);
  if (!width.ok) return width;
  const height = readNumber('height', textOf(query.height), sizeRule);
  if (!height.ok) return height;
  const scale = readNumber('scale', textOf(query.scale) ?? '1', { minimum: 1, maximum: 3 });
  if (!scale.ok) return scale;
  const markers = readEach('markers', textsOf(query.markers), readMarkers);
  if (!markers.ok) return markers;
  const paths = readEach('path', textsOf(query.path), readPath);
  if (!paths.ok) return paths;
  const geofenceTag = textOf(query.geofences) ?? null;
  const hasOverlays = markers.value.length > 0 || paths.value.length > 0 || geofenceTag !== null;
  const camera = readCamera(textOf(query.center), textOf(query.zoom), textOf(query.bbox), hasOverlays);
  if (!camera.ok) return camera;
  const language = readLanguage(singleOf(query.language), preferences['accept-language']);
  if (!language.ok) return language;
  const style = readStyle(singleOf(query.style));
  if (!style.ok) return style;
  const format = readFormat(singleOf(query.format), preferences.accept);
  if (!format.ok) return format;
  return {
    ok: true,
    value: {
      geofenceTag,
      request: {
        width: Math.round(width.value),
        height: Math.round(height.value),
        scale: scale.value,
        camera: camera.value,
        style: style.value,
        language: language.value,
        format: format.value,
        markers: markers.value,
        paths: paths.value,
      },
    },
  };
}

function readEach<T extends MarkerGroup | PathOverlay>(
  param: string,
  texts: readonly string[],
  read: (text: string) => Validated<T>,
): Validated<readonly T[]> {
  if (texts.length > maxOverlays) return invalid(param, `must not be repeated more than ${maxOverlays} times`);
  const values: T[] = [];
  for (const text of texts) {
    const validated = read(text);
    if (!validated.ok) return validated;
    values.push(validated.value);
  }
  const locations = values.reduce((sum, value) => sum + value.locations.length, 0);
  return locations <= maxLocations
    ? { ok: true, value: values }
    : invalid(param, `must not have more than ${maxLocations} locations`);
}

/**
 * Reads a language: a code, `native` for the names on signs, or `local` for the language of the device, by its header
 * `Accept-Language`.
 */
export function readLanguage(text: string = defaultLanguage, acceptLanguage = ''): Validated<string> {
  if (isOfDevice(text)) return { ok: true, value: deviceLanguage(acceptLanguage) };
  if (text.toLowerCase() === 'native') return { ok: true, value: 'native' };
  const language = languageOf(text);
  if (language !== undefined) return { ok: true, value: language };
  return invalid('language', 'must be a two-letter ISO 639-1 code, such as it or pt-BR, local or native');
}

/** Tests whether a value of `language` stands for the language of the device. */
export const isOfDevice = (language: unknown): boolean => singleOf(language)?.toLowerCase() === 'local';

/** Returns the name of a built-in style, or what may be the id of an uploaded one. */
export function readStyle(text: string = builtInStyles[0]): Validated<string> {
  if (/^[\w.-]{1,64}$/.test(text)) return { ok: true, value: styleNamed(text) };
  return invalid('style', `must be one of ${builtInStyles.join(', ')}, or the id of an uploaded style`);
}

function readFormat(text: string | undefined, accept = ''): Validated<ImageFormat> {
  if (text === undefined) return { ok: true, value: acceptedFormat(accept) };
  const name = text.toLowerCase();
  const format = Object.hasOwn(formats, name) ? formats[name] : undefined;
  return format ? { ok: true, value: format } : invalid('format', 'must be png, webp or jpg');
}

/**
 * Returns PNG, unless the header names WebP or JPEG and neither PNG nor everything (RFC 9110, 12.5.1). Weights are
 * ignored.
 */
function acceptedFormat(accept: string): ImageFormat {
  const types = accept.split(',').map((part) => part.split(';')[0]?.trim().toLowerCase());
  if (types.some((type) => type === 'image/png')) return 'png';
  if (types.includes('image/webp')) return 'webp';
  return types.includes('image/jpeg') && !types.includes('image/*') && !types.includes('*/*') ? 'jpg' : 'png';
}
