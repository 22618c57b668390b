/** Cuts vector tiles: to a part of their area, and to the names within it. Pure. */
import { fromGeojsonVt } from '@maplibre/vt-pbf';
import { dashLines, unbroken } from '../draw/dash.js';
import { clipRing } from '../labels/anchors/areas.js';
import { line, point, polygon, type TileFeature, type TileLayer, type VectorTile } from '../tiles/vector-tile.js';
import type { PixelBox } from '../types.js';

type Vertex = readonly [x: number, y: number];

/** A feature as the encoder reads it: points, lines, or closed rings. */
interface EncodedFeature {
  readonly type: number;
  readonly geometry: readonly Vertex[] | readonly (readonly Vertex[])[];
  readonly tags: TileFeature['properties'];
  readonly id?: number;
}

/** Returns the bytes of the tile without what lies beyond a part of it, in shares of its width. */
export function croppedTile(tile: VectorTile, part: PixelBox): Uint8Array {
  return encoded(tile, ({ extent }) => {
    const box = {
      minX: part.minX <= 0 ? -Infinity : part.minX * extent,
      minY: part.minY <= 0 ? -Infinity : part.minY * extent,
      maxX: part.maxX >= 1 ? Infinity : part.maxX * extent,
      maxY: part.maxY >= 1 ? Infinity : part.maxY * extent,
    };
    return (feature) => croppedGeometry(feature, box);
  });
}

/**
 * Returns the bytes of a descendant of the tile, `zooms` below it, with the points outside a part of the descendant.
 * `x` and `y` are the descendant's position in the tile. The part is in shares of the descendant's width.
 */
export function pointsOfDescendant(
  tile: VectorTile,
  { zooms, x, y }: { readonly zooms: number; readonly x: number; readonly y: number },
  without: PixelBox | undefined,
): Uint8Array {
  const factor = 2 ** zooms;
  return encoded(tile, ({ extent }) => {
    const isShown = ([left, top]: Vertex): boolean => {
      if (left < 0 || left >= extent || top < 0 || top >= extent) return false;
      return !without || !contains(without, left / extent, top / extent);
    };
    return (feature) =>
      feature.type === point
        ? verticesOf(feature.coordinates().xy)
            .map(([left, top]): Vertex => [left * factor - x * extent, top * factor - y * extent])
            .filter(isShown)
        : [];
  });
}

const contains = ({ minX, minY, maxX, maxY }: PixelBox, x: number, y: number): boolean =>
  x >= minX && x < maxX && y >= minY && y < maxY;

/** Encodes the tile with other geometries. Features without one are left out, and so are layers without features. */
function encoded(
  { layers }: VectorTile,
  geometryIn: (layer: TileLayer) => (feature: TileFeature) => EncodedFeature['geometry'],
): Uint8Array {
  const parts = [...layers].map(([name, layer]) => {
    const geometryOf = geometryIn(layer);
    const features = layer.features.flatMap((feature): EncodedFeature[] => {
      const { type, properties: tags, id } = feature;
      const geometry = geometryOf(feature);
      return geometry.length === 0 ? [] : [{ type, geometry, tags, ...(id !== undefined && { id }) }];
    });
    if (features.length === 0) return new Uint8Array();
    return fromGeojsonVt({ [name]: { features } } as never, { version: 2, extent: layer.extent });
  });
  // Layers of a tile follow each other without a header.
  return Buffer.concat(parts);
}

function croppedGeometry(feature: TileFeature, box: PixelBox): EncodedFeature['geometry'] {
  const { xy, ends } = feature.coordinates();
  if (feature.type === point) return verticesOf(xy).filter(([x, y]) => contains(box, x, y));
  if (feature.type === line) {
    const inside = dashLines({ xy, ends }, false, unbroken, box);
    return inside.ends.map((end, i) => verticesOf(inside.xy.slice(inside.ends[i - 1] ?? 0, end)));
  }
  if (feature.type !== polygon) return [];
  return ends
    .map((end, i) => verticesOf(clipRing(xy.slice(ends[i - 1] ?? 0, end), box)))
    .flatMap((ring) => (ring.length < 3 ? [] : [[...ring, ring[0]!]]));
}

/** Returns vertices on whole units, which tiles consist of. */
const verticesOf = (xy: readonly number[]): Vertex[] =>
  Array.from({ length: xy.length / 2 }, (_, i) => [Math.round(xy[2 * i]!), Math.round(xy[2 * i + 1]!)]);
