/**
 * Adds the built-in basemap to a style for interactive maps, where an archive of a part of the world has no tiles.
 *
 * Input: the styles of the archive and of the basemap, both with the source `map`. Output: one style. The basemap lies
 * below everything, and the archive covers it with a square in each of its tiles (see `coveredTile`). Pure.
 */

import type {
  BackgroundLayerSpecification,
  FilterSpecification,
  LayerSpecification,
  SourceSpecification,
  StyleSpecification,
} from '@maplibre/maplibre-gl-style-spec';
import { fromGeojsonVt } from '@maplibre/vt-pbf';
import { expression } from '../styles/expressions.js';
import type { Bounds, PixelBox, TileSource } from '../types.js';

/** The layer that is added to the archive's tiles: the area that they cover. */
const coveredLayer = 'fenceline_covered';
const basemapSource = 'basemap';

/** Returns the archive's style above the basemap's, which names what lies beyond the archive's bounds. */
export function besideArchive(
  style: StyleSpecification,
  basemap: StyleSpecification,
  { kind, bounds, minZoom }: Pick<TileSource, 'kind' | 'minZoom'> & { readonly bounds: Bounds },
  source: SourceSpecification,
): StyleSpecification {
  const isSymbol = ({ type }: LayerSpecification) => type === 'symbol';
  const moved = basemap.layers.map((layer) => ({ ...layer, id: `basemap-${layer.id}`, ...sourceOf(layer) }));
  const own = style.layers.filter(({ type }) => type !== 'background');
  return {
    ...style,
    sources: { ...style.sources, [basemapSource]: source },
    layers: [
      ...moved.filter((layer) => !isSymbol(layer)),
      ...(kind === 'vector' ? [cover(style)] : []),
      ...own.filter((layer) => !isSymbol(layer)),
      ...moved.filter(isSymbol).map((layer) => beyond(layer, bounds, minZoom)),
      ...own.filter(isSymbol),
    ],
  };
}

const sourceOf = (layer: LayerSpecification) => ('source' in layer ? { source: basemapSource } : {});

/** The archive's own background, in its tiles only. */
function cover({ layers }: StyleSpecification): LayerSpecification {
  const background = layers.find((layer): layer is BackgroundLayerSpecification => layer.type === 'background');
  const color = background?.paint?.['background-color'] ?? '#ffffff';
  return {
    ...{ id: 'covered', type: 'fill', source: 'map', 'source-layer': coveredLayer },
    paint: { 'fill-color': color, 'fill-antialias': false },
  } as LayerSpecification;
}

/** Limits labels to places beyond the archive's bounds, and to zooms below the archive's first one. */
function beyond(layer: LayerSpecification, bounds: Bounds, minZoom: number): LayerSpecification {
  const own = 'filter' in layer && layer.filter !== undefined ? [layer.filter] : [];
  const [west, south, east, north] = bounds;
  const ring = [
    ...[
      [west, south],
      [east, south],
      [east, north],
    ],
    ...[
      [west, north],
      [west, south],
    ],
  ];
  const outside = expression('!', ['within', { type: 'Polygon', coordinates: [ring] }]);
  const uncovered = minZoom > 0 ? expression('any', ['<', ['zoom'], minZoom], outside) : outside;
  return { ...layer, filter: expression('all', ...own, uncovered) as FilterSpecification } as LayerSpecification;
}

const extent = 4096;
/** Beyond the tile's edge, so that neighbouring squares leave no gap. */
const margin = 16;

/** Returns a tile of the archive with the area that it covers, in shares of its width; null for all of it. */
export function coveredTile(bytes: Uint8Array, part: PixelBox | null): Uint8Array {
  const [low, high] = [-margin, extent + margin];
  const at = (share: number) => (share <= 0 ? low : share >= 1 ? high : Math.round(share * extent));
  const { minX, minY, maxX, maxY } = part ?? { minX: 0, minY: 0, maxX: 1, maxY: 1 };
  const [left, top, right, bottom] = [at(minX), at(minY), at(maxX), at(maxY)];
  const ring: [number, number][] = [
    ...([
      [left, top],
      [right, top],
      [right, bottom],
    ] satisfies [number, number][]),
    ...([
      [left, bottom],
      [left, top],
    ] satisfies [number, number][]),
  ];
  const square = { features: [{ type: 3 as const, geometry: [ring], tags: {} }] };
  // Layers of a tile follow each other without a header.
  return Buffer.concat([bytes, fromGeojsonVt({ [coveredLayer]: square } as never, { version: 2, extent })]);
}
