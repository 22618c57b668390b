/**
 * Completes styles for interactive maps: tiles, glyphs and sprites of this installation.
 *
 * Input: a localized MapLibre style whose source `map` has no address, and the properties of the tiles. Output: the
 * style with paths below `/maps/` in place of addresses (see {@link withAddresses}). Pure.
 */
import type { SourceSpecification, StyleSpecification } from '@maplibre/maplibre-gl-style-spec';
import type { BuiltInStyle } from '../styles/names.js';
import type { Bounds, TileSource } from '../types.js';
import { worldPixel, worldPosition } from '../view/projection.js';
import type { Tileset } from './requests.js';

const glyphsPath = '/maps/glyphs/{fontstack}/{range}.pbf';

/** Returns the path of a style's sprite, without extension. */
export const spritePath = (style: BuiltInStyle): string => `/maps/sprites/${style}`;

const tilesPath = (tileset: Tileset): string => `/maps/tiles/${tileset}/{z}/{x}/{y}`;

/** Maximum zoom of a source in the style specification. */
const maxZoom = 24;

/** The view of a map that names none: all tiles of a part of the world, at this size in CSS pixels. */
const firstViewPx = 512;

type Described = Pick<TileSource, 'kind' | 'minZoom' | 'maxZoom' | 'tileSizePx' | 'bounds' | 'attribution'>;

/** Returns the style with the tiles of `source` as its source `map`, and all text in the fonts of static maps. */
export function completeStyle(style: StyleSpecification, tileset: Tileset, source: Described): StyleSpecification {
  return {
    ...(isPartOfWorld(source.bounds) && firstView(source.bounds, source.maxZoom)),
    ...style,
    glyphs: glyphsPath,
    sources: { ...style.sources, map: sourceOf(tileset, source) },
  };
}

/** Returns the source of a tileset, with paths in place of addresses. */
export function sourceOf(
  tileset: Tileset,
  { kind, minZoom, tileSizePx, bounds, ...source }: Described,
): SourceSpecification {
  return {
    type: kind,
    tiles: [tilesPath(tileset)],
    minzoom: minZoom,
    maxzoom: Math.min(maxZoom, source.maxZoom),
    ...(kind === 'raster' && { tileSize: tileSizePx }),
    ...(bounds && { bounds: [...bounds] }),
    ...(source.attribution !== '' && { attribution: escaped(source.attribution) }),
  } as SourceSpecification;
}

/** Libraries insert the attribution as HTML. */
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** Returns whether bounds are known and span less than half of the world. */
export const isPartOfWorld = (bounds: Bounds | null): bounds is Bounds =>
  bounds !== null && bounds[2] - bounds[0] < 180;

function firstView([west, south, east, north]: Bounds, lastZoom: number): Pick<StyleSpecification, 'center' | 'zoom'> {
  const [left, top] = worldPixel([west, north], 0);
  const [right, bottom] = worldPixel([east, south], 0);
  const zoom = Math.log2(firstViewPx / Math.max(right - left, bottom - top));
  const [longitude, latitude] = worldPosition([(left + right) / 2, (top + bottom) / 2], 0);
  return { center: [longitude, latitude], zoom: Math.max(0, Math.min(lastZoom, zoom)) };
}

/** Returns the style with the addresses of this installation's files, made of their paths. */
export function withAddresses(style: StyleSpecification, addressOf: (path: string) => string): StyleSpecification {
  const address = (path: string): string => (path.startsWith('/maps/') ? addressOf(path) : path);
  const sources = Object.entries(style.sources).map(([name, source]) => {
    const tiles = 'tiles' in source ? source.tiles?.map(address) : undefined;
    return [name, { ...source, ...(tiles && { tiles }) }] as const;
  });
  return {
    ...style,
    sources: Object.fromEntries(sources) as StyleSpecification['sources'],
    ...(style.glyphs !== undefined && { glyphs: address(style.glyphs) }),
    ...(typeof style.sprite === 'string' && { sprite: address(style.sprite) }),
  };
}
