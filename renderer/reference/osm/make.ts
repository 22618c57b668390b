/**
 * Makes an archive of vector tiles from an OpenStreetMap extract:
 * `node dist/renderer/reference/osm/make.js SCHEMA FROM.osm.pbf TO.pmtiles ZOOM/X/Y…`. SCHEMA is `shortbread` or
 * `protomaps`.
 *
 * So were the archives made that `archives/README.md` names. Imports `basemap`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { pmtilesArchive } from '../../basemap/pmtiles-archive.js';
import { cutTiles } from '../../basemap/tiles.js';
import { boundsOf, placeOf, type TilePlace, usualAttribution } from '../cut.js';
import { declaredBounds, readExtract } from './extract.js';
import { protomapsLayers } from './protomaps.js';
import type { Bounds } from './rings.js';
import { shortbreadLayers } from './shortbread.js';

const schemas = { protomaps: protomapsLayers, shortbread: shortbreadLayers };

/** Degrees around the tiles: more than a tile's buffer. */
const margin = 0.01;

/** Returns the bytes of an archive with these tiles, as far as they have features. */
function makeArchive(schema: keyof typeof schemas, file: Buffer, places: readonly TilePlace[]): Uint8Array {
  const maxZoom = Math.max(...places.map(({ zoom }) => zoom));
  const lowest = Math.min(...places.map(({ zoom }) => zoom));
  const bounds = boundsOf(places.filter(({ zoom }) => zoom === lowest));
  const layers = schemas[schema](readExtract(file), common(widened(bounds), declaredBounds(file)), maxZoom).all();
  const wanted = new Set(places.map(({ zoom, x, y }) => `${zoom}/${x}/${y}`));
  const tiles = cutTiles(layers).tiles.filter(({ zoom, x, y }) => wanted.has(`${zoom}/${x}/${y}`));
  const vectorLayers = layers.map(({ name, minZoom }) => ({
    id: name,
    fields: {},
    minzoom: minZoom,
    maxzoom: maxZoom,
  }));
  const metadata = { attribution: usualAttribution, vector_layers: vectorLayers };
  return pmtilesArchive(tiles, { metadata, bounds: boundsOf(places) });
}

const widened = ([west, south, east, north]: Bounds): Bounds => [
  west - margin,
  south - margin,
  east + margin,
  north + margin,
];

/** Returns the part of the bounds that both have. */
const common = (a: Bounds, b: Bounds): Bounds => [
  Math.max(a[0], b[0]),
  Math.max(a[1], b[1]),
  Math.min(a[2], b[2]),
  Math.min(a[3], b[3]),
];

const [schema, from, to, ...places] = process.argv.slice(2) as [keyof typeof schemas, string, string, ...string[]];
writeFileSync(to, makeArchive(schema, readFileSync(from), places.map(placeOf)));
