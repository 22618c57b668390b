/** How an archive of images is drawn: as it is, whatever the palette. Pure. */
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec';

/** The images of source `map`, on white. */
export const rasterStyle = (name: string): StyleSpecification => ({
  version: 8,
  name,
  sources: { map: { type: 'raster' } },
  layers: [
    { id: 'background', type: 'background', paint: { 'background-color': '#ffffff' } },
    { id: 'images', type: 'raster', source: 'map' },
  ],
});
