/** Detects the schema of an archive by its layer names. Each built-in style has a version for each schema. */
import type { TileSchema, TileSource } from '../types.js';

/** Schemas in order of detection. One of these layers identifies a schema. */
const tellingLayers: readonly (readonly [TileSchema, readonly string[]])[] = [
  ['fenceline', ['country_labels']],
  // Version 4 of the Protomaps basemap folded these into others; all versions have `earth`.
  ['protomaps-v3', ['physical_line', 'physical_point', 'natural', 'mask']],
  ['protomaps', ['earth']],
  ['shortbread', ['ocean', 'street_labels', 'streets', 'place_labels']],
  ['openmaptiles', ['transportation', 'water_name', 'aeroway', 'landcover']],
];

/**
 * Detects the schema of a source by its layers. Null for raster tiles, and when the layers are unknown or none of ours.
 */
export function detectSchema(source: TileSource): TileSchema | null {
  const layers = source.layers ?? [];
  return tellingLayers.find(([, names]) => names.some((name) => layers.includes(name)))?.[0] ?? null;
}
