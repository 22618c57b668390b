/**
 * Validates uploaded styles, finds what is not drawn of them, and adapts them to the archive.
 *
 * Input: any JSON and the properties of the archive. Output: a problem or a list of what is not drawn; a MapLibre style
 * with one source, `map`. Of the URLs in a style only those of sprites are ever requested, and not here. Pure; imports
 * `style/`.
 */
import {
  derefLayers,
  type LayerSpecification,
  type SourceSpecification,
  type StyleSpecification,
} from '@maplibre/maplibre-gl-style-spec';
import { invalid, type Validated } from '../../schemas/errors.js';
import { type FontFamily, lackingFamilies } from '../fonts.js';
import { compileStyle, validateStyle } from '../style/compile.js';
import { expandedSize } from '../style/expanded-size.js';
import { hasValidGeoJson } from '../style/geojson-operands.js';
import { type Unsupported, unsupported } from '../style/unsupported.js';
import type { TileSource } from '../types.js';
import { localizeStyle } from './language.js';

/** Maximum operators of an expression with its variables, and its names in a language, written out. */
const maxOperators = 20_000;

type Archive = Pick<TileSource, 'kind' | 'layers'>;

/**
 * Returns what is not drawn of the style with this archive, or its first error: the position, such as
 * `layers[0].paint.line-width`, and the rule.
 */
export function checkStyle(
  json: unknown,
  archive: Archive,
  lackingFonts: readonly FontFamily[] = lackingFamilies(),
): Validated<Unsupported[]> {
  try {
    // Before the style is validated, which evaluates constants, and again before its names are compiled.
    const field = findExpression(json, isTooLarge);
    if (field !== undefined) return invalid(field, growth);
    const unlocated = findExpression(json, (value) => !hasValidGeoJson(value));
    if (unlocated !== undefined) return invalid(unlocated, geoJsonRule);
    const [error] = validateStyle(json);
    if (error) return invalid(error.field, error.message);
    const style = withoutReferences(json as StyleSpecification);
    const localized = localizeStyle(onArchive(style), 'en');
    const localizedField = findExpression(localized, isTooLarge);
    if (localizedField !== undefined) return invalid(localizedField, growth);
    compileStyle(localized);
    const value = [
      ...unsupported(style),
      ...unsupportedSources(style, archive),
      ...undrawnScripts(style, lackingFonts),
    ];
    return { ok: true, value };
  } catch (error) {
    return invalid('', (error as Error).message);
  }
}

const growth =
  `must have at most ${maxOperators} operators when its variables and names are written out, ` +
  'of which each position in within counts as 10';

const isTooLarge = (value: unknown): boolean => expandedSize(value) > maxOperators;

const geoJsonRule =
  'must have GeoJSON in within and distance, whose coordinates are lists of numbers that fit its type';

/** Returns the place of the first filter or property that `isWrong` holds for. The style is any JSON. */
function findExpression(style: unknown, isWrong: (value: unknown) => boolean): string | undefined {
  const { layers } = (style ?? {}) as { readonly layers?: unknown };
  if (!Array.isArray(layers)) return undefined;
  for (const [index, layer] of layers.entries()) {
    const { filter, layout, paint } = (layer ?? {}) as Readonly<Record<string, unknown>>;
    if (isWrong(filter)) return `layers[${index}].filter`;
    for (const [group, properties] of Object.entries({ layout, paint })) {
      const name = Object.entries(properties ?? {}).find(([, value]) => isWrong(value))?.[0];
      if (name !== undefined) return `layers[${index}].${group}.${name}`;
    }
  }
  return undefined;
}

/** Names the scripts whose fonts are not installed, if the style has texts. */
function undrawnScripts({ layers }: StyleSpecification, lacking: readonly FontFamily[]): Unsupported[] {
  const hasTexts = layers.some((layer) => layer.type === 'symbol' && layer.layout?.['text-field'] !== undefined);
  if (!hasTexts || lacking.length === 0) return [];
  const named = lacking.map(({ scripts, package: name }) => `${scripts.join(' and ').replaceAll('_', ' ')} (${name})`);
  const message = `Names in scripts without an installed font are not drawn. Install: ${named.join(', ')}`;
  return [{ layer: null, property: 'text-font', message }];
}

/**
 * Returns the style with the archive as source `map` instead of its main source. Layers of other sources are not drawn.
 */
export function onArchive(style: StyleSpecification): StyleSpecification {
  const whole = withoutReferences(style);
  const main = mainSource(whole);
  const layers = whole.layers.map((layer) =>
    'source' in layer ? { ...layer, source: layer.source === main ? 'map' : 'none' } : layer,
  ) as LayerSpecification[];
  return { ...whole, sources: {}, layers };
}

/**
 * Returns the style for interactive maps, with the archive as source `map` instead of its main source. Sources that
 * browsers cannot load are left out, with their layers.
 */
export function onArchiveOfWeb(style: StyleSpecification): StyleSpecification {
  const whole = withoutReferences(style);
  const main = mainSource(whole);
  const others = Object.entries(whole.sources).filter(([name, source]) => name !== main && isLoadable(source));
  const layers = whole.layers.flatMap((layer): LayerSpecification[] => {
    if (!('source' in layer)) return [layer];
    if (layer.source === main) return [{ ...layer, source: 'map' } as LayerSpecification];
    const isKept = others.some(([name]) => name === layer.source);
    return isKept ? [{ ...layer, source: otherName(layer.source) } as LayerSpecification] : [];
  });
  const sources = Object.fromEntries(others.map(([name, source]) => [otherName(name), source]));
  return { ...whole, sources, layers };
}

/** The archive's source is named `map`. */
const otherName = (name: string): string => (name === 'map' ? 'map-of-style' : name);

/** Addresses of other protocols, such as `mapbox:`, belong to other services. */
function isLoadable(source: SourceSpecification): boolean {
  const { url, tiles = [] } = source as { readonly url?: string; readonly tiles?: readonly string[] };
  return [...(url === undefined ? [] : [url]), ...tiles].every((address) => /^https?:/i.test(address));
}

/** Layers may inherit from others by `ref`. */
const withoutReferences = (style: StyleSpecification): StyleSpecification => ({
  ...style,
  layers: derefLayers(style.layers) as LayerSpecification[],
});

/**
 * Returns the source that most layers use, the first of equals: the basemap. Returns undefined when no layer uses
 * tiles.
 */
function mainSource({ sources, layers }: StyleSpecification): string | undefined {
  const uses = (name: string) => layers.filter((layer) => 'source' in layer && layer.source === name).length;
  const [first] = Object.entries(sources)
    .filter(([name, { type }]) => (type === 'vector' || type === 'raster') && uses(name) > 0)
    .map(([name]) => ({ name, uses: uses(name) }))
    .sort((a, b) => b.uses - a.uses);
  return first?.name;
}

function unsupportedSources(style: StyleSpecification, archive: Archive): Unsupported[] {
  const main = mainSource(style);
  const sources = Object.entries(style.sources).flatMap(([name, { type }]): Unsupported[] => {
    const message =
      name !== main
        ? 'Not loaded, and its layers are not drawn: ' +
          `the archive of this installation replaces one source, ${main ?? 'of vector or raster tiles'}`
        : type !== archive.kind
          ? `Its layers are not drawn: the archive of this installation has ${archive.kind} tiles`
          : null;
    return message === null ? [] : [{ layer: null, property: `sources.${name}`, message }];
  });
  return [
    ...sources,
    ...style.layers.filter((layer) => 'source' in layer && layer.source === main).flatMap(missingLayer),
  ];

  function missingLayer(layer: LayerSpecification): Unsupported[] {
    const name = 'source-layer' in layer ? layer['source-layer'] : undefined;
    if (name === undefined || archive.kind !== 'vector' || !archive.layers || archive.layers.includes(name)) return [];
    return [
      { layer: layer.id, property: 'source-layer', message: `The archive of this installation has no layer "${name}"` },
    ];
  }
}
