/** The style of raster archives, which ignores the palette. Pure. */
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec';

/** Returns a style with the images of source `map` on white. */
export const rasterStyle = (name: string): StyleSpecification => ({
  version: 8,
  name,
  sources: { map: { type: 'raster' } },
  layers: [
    { id: 'background', type: 'background', paint: { 'background-color': '#ffffff' } },
    { id: 'images', type: 'raster', source: 'map' },
  ],
});
