/** Layers of buildings and borders. */
import type { LayerSpecification } from '@maplibre/maplibre-gl-style-spec';
import { byZoom, expression, from } from '../expressions.js';
import type { Palette } from '../palette.js';
import type { Schema } from '../schema.js';

/** Returns the layers of buildings; none if the schema has no buildings. */
export function buildingLayers({ buildings }: Schema, palette: Palette): LayerSpecification[] {
  if (!buildings) return [];
  return [
    {
      id: 'buildings',
      type: 'fill',
      minzoom: 13,
      ...from(buildings),
      paint: {
        'fill-color': palette.building,
        'fill-opacity': byZoom({ 13: 0.25, 14: 0.5, 16: 1 }),
        // At lower zooms the edges would hide the buildings.
        'fill-outline-color': byZoom({ 14: palette.building, 16: palette.buildingEdge }),
      },
    },
  ];
}

/** Returns the layers of the borders that the schema has. */
export function borderLayers({ borders }: Schema, palette: Palette): LayerSpecification[] {
  const layers: LayerSpecification[] = [];
  if (borders.state) {
    layers.push({
      id: 'border-state',
      type: 'line',
      minzoom: 3,
      ...from(borders.state),
      layout: { 'line-join': 'round' },
      paint: {
        'line-color': palette.stateBorder,
        'line-width': byZoom({ 3: 0.5, 8: 1.2, 14: 2 }),
        'line-dasharray': [3, 2],
      },
    });
  }
  if (borders.country) {
    layers.push({
      id: 'border-country',
      type: 'line',
      ...from(borders.country),
      layout: { 'line-cap': 'round', 'line-join': 'round' },
      paint: {
        'line-color': palette.border,
        'line-width': byZoom({ 0: 0.5, 4: 0.9, 8: 1.5, 14: 2.2 }),
        // Dashed where a solid line would look like a road or the bank of a river.
        'line-dasharray': expression('step', ['zoom'], ['literal', [1, 0]], 9, ['literal', [5, 2, 1, 2]]),
      },
    });
  }
  return layers;
}
