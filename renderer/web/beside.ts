/**
 * Adds the built-in basemap to interactive maps, where an archive of a part of the world has no tiles.
 *
 * Styles: the basemap lies below everything, and the archive covers it with a square in each of its tiles. Tiles: those
 * of the archive end where it ends, and names of the basemap have tiles of their own, without places that the archive
 * covers.
 */
import type {
  BackgroundLayerSpecification,
  LayerSpecification,
  SourceSpecification,
  StyleSpecification,
} from '@maplibre/maplibre-gl-style-spec';
import { fromGeojsonVt } from '@maplibre/vt-pbf';
import { coveredPart } from '../tiles/coverage.js';
import { decodeVectorTile } from '../tiles/vector-tile.js';
import type { PixelBox, TileSource } from '../types.js';
import { croppedTile, pointsOfDescendant } from './crop.js';

/** The layer that is added to the archive's tiles: the area that they cover. */
const coveredLayer = 'fenceline_covered';
const basemapSource = 'basemap';
const namesSource = 'basemap-names';

/** Returns the archive's style above the basemap's, which names what the archive does not cover. */
export function besideArchive(
  style: StyleSpecification,
  basemap: StyleSpecification,
  kind: TileSource['kind'],
  sources: { readonly basemap: SourceSpecification; readonly names: SourceSpecification },
): StyleSpecification {
  const moved = basemap.layers.map(
    (layer) => ({ ...layer, id: `basemap-${layer.id}`, ...sourceOf(layer) }) as LayerSpecification,
  );
  const own = style.layers.filter(({ type }) => type !== 'background');
  return {
    ...style,
    sources: { ...style.sources, [basemapSource]: sources.basemap, [namesSource]: sources.names },
    layers: [
      ...moved.filter((layer) => !isSymbol(layer)),
      ...(kind === 'vector' ? [cover(style)] : []),
      ...own.filter((layer) => !isSymbol(layer)),
      ...moved.filter(isSymbol),
      ...own.filter(isSymbol),
    ],
  };
}

const isSymbol = ({ type }: LayerSpecification): boolean => type === 'symbol';

const sourceOf = (layer: LayerSpecification) =>
  'source' in layer ? { source: isSymbol(layer) ? namesSource : basemapSource } : {};

/** The archive's own background, in its tiles only. */
function cover({ layers }: StyleSpecification): LayerSpecification {
  const background = layers.find((layer): layer is BackgroundLayerSpecification => layer.type === 'background');
  const color = background?.paint?.['background-color'] ?? '#ffffff';
  return {
    id: 'covered',
    type: 'fill',
    source: 'map',
    'source-layer': coveredLayer,
    paint: { 'fill-color': color, 'fill-antialias': false },
  } as LayerSpecification;
}

const extent = 4096;
/** Beyond the tile's edge, so that neighbouring squares leave no gap. */
const margin = 16;

/** Returns a tile of the archive without what lies beyond the part that it covers, and with this part as an area. */
export function coveredTile(
  bytes: Uint8Array,
  { zoom, x, y }: TilePosition,
  { bounds }: Pick<TileSource, 'bounds'>,
): Uint8Array {
  const tile = decodeVectorTile(bytes);
  const part = coveredPart(tile, zoom, x, y, bounds);
  const contents = part ? croppedTile(tile, part) : bytes;
  // Layers of a tile follow each other without a header.
  return Buffer.concat([contents, coveredArea(part ?? whole)]);
}

interface TilePosition {
  readonly zoom: number;
  readonly x: number;
  readonly y: number;
}

const whole: PixelBox = { minX: 0, minY: 0, maxX: 1, maxY: 1 };

/** Returns the layer with the part of the tile, given in shares of its width. */
function coveredArea({ minX, minY, maxX, maxY }: PixelBox): Uint8Array {
  const [low, high] = [-margin, extent + margin];
  const at = (share: number) => (share <= 0 ? low : share >= 1 ? high : Math.round(share * extent));
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
  return fromGeojsonVt({ [coveredLayer]: square } as never, { version: 2, extent });
}

/** Returns the tile of names of the basemap where the archive's tile of this position has nothing; null for no name. */
export async function namesBeyond(
  position: TilePosition,
  archive: TileSource,
  basemap: TileSource,
): Promise<Uint8Array | null> {
  const { zoom, x, y } = position;
  const bytes = zoom < archive.minZoom ? undefined : await archive.tile(zoom, x, y);
  const part = bytes && (archive.kind === 'vector' ? partOf(bytes, position, archive) : whole);
  const zooms = Math.max(0, zoom - basemap.maxZoom);
  const [ancestorX, ancestorY] = [x >> zooms, y >> zooms];
  const ancestor = part === whole ? undefined : await basemap.tile(zoom - zooms, ancestorX, ancestorY);
  if (!ancestor) return null;
  const place = { zooms, x: x - (ancestorX << zooms), y: y - (ancestorY << zooms) };
  const names = pointsOfDescendant(decodeVectorTile(ancestor), place, part);
  return names.length === 0 ? null : names;
}

const partOf = (bytes: Uint8Array, { zoom, x, y }: TilePosition, { bounds }: TileSource): PixelBox =>
  coveredPart(decodeVectorTile(bytes), zoom, x, y, bounds) ?? whole;
