/** An archive with one place and one street in each script, and a style that draws them. */
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec';
import { Compression } from 'pmtiles';
import { pmtilesBytes } from '../testing/archives.js';
import { placeNames } from '../testing/place-names.js';
import { type DrawnFeature, tileBytes } from '../testing/tiles.js';

const columns = 5;
/** Size of a name's cell in the tile. */
const cell = { width: 4096 / columns, height: 4096 / Math.ceil(placeNames.length / columns) };

/** Returns a PMTiles archive of one tile, in schema OpenMapTiles. */
export function scriptsArchive(): Uint8Array {
  const features = placeNames.map(([, name], i) => {
    const left = (i % columns) * cell.width;
    const top = Math.floor(i / columns) * cell.height;
    const tags = { name };
    const place: DrawnFeature = { type: 'point', parts: [[[left + cell.width / 2, top + 0.35 * cell.height]]], tags };
    const street: DrawnFeature = {
      type: 'line',
      parts: [
        [
          [left + 0.02 * cell.width, top + 0.85 * cell.height],
          [left + 0.98 * cell.width, top + 0.7 * cell.height],
        ],
      ],
      tags,
    };
    return { place, street };
  });
  const layers = {
    place: features.map(({ place }) => place),
    transportation_name: features.map(({ street }) => street),
  };
  // The schema is recognised by layers that this tile does not have.
  const fields = [...Object.keys(layers), 'transportation', 'water', 'boundary'].map((id) => ({ id, fields: {} }));
  const tile = { zoom: 0, x: 0, y: 0, bytes: tileBytes(layers) };
  return pmtilesBytes([tile], { vector_layers: fields }, Compression.Gzip);
}

const source = { source: 'openmaptiles' };

/** A style that draws the names of the archive and nothing else. */
export const scriptsStyle: StyleSpecification = {
  version: 8,
  sources: { openmaptiles: { type: 'vector' } },
  layers: [
    { id: 'ground', type: 'background', paint: { 'background-color': '#f2efe9' } },
    {
      id: 'streets',
      type: 'line',
      ...source,
      'source-layer': 'transportation_name',
      paint: { 'line-color': '#ffffff', 'line-width': 18 },
    },
    {
      id: 'street-names',
      type: 'symbol',
      ...source,
      'source-layer': 'transportation_name',
      layout: {
        'text-field': '{name}',
        'text-size': 12,
        'symbol-placement': 'line',
        'symbol-spacing': 30,
        'text-font': ['Noto Sans Regular'],
      },
      paint: { 'text-color': '#555555', 'text-halo-color': '#ffffff', 'text-halo-width': 1.5 },
    },
    {
      id: 'places',
      type: 'symbol',
      ...source,
      'source-layer': 'place',
      layout: { 'text-field': '{name}', 'text-size': 17, 'text-max-width': 10, 'text-font': ['Noto Sans Bold'] },
      paint: { 'text-color': '#222222', 'text-halo-color': '#f2efe9', 'text-halo-width': 1.5 },
    },
  ],
};
