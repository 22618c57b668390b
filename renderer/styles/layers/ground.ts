/** Layers of land, land use, water and piers. */
import type { LayerSpecification } from '@maplibre/maplibre-gl-style-spec';
import { byClass, byZoom, from, isOneOf } from '../expressions.js';
import type { Palette } from '../palette.js';
import { type AreaClass, type Classified, coverClasses, type Schema, type Selected, zoneClasses } from '../schema.js';

/** Returns the layers from the lowest, the background, to the highest. */
export function groundLayers(schema: Schema, palette: Palette): LayerSpecification[] {
  return [
    { id: 'background', type: 'background', paint: { 'background-color': palette[schema.background] } },
    ...(schema.land ? [fill('land', schema.land, palette.land)] : []),
    ...areaLayers('zone', schema, palette, zoneClasses),
    ...areaLayers('cover', schema, palette, coverClasses),
    ...waterwayLayers(schema, palette),
    ...schema.water.map((water, i) => fill(`water-${i}`, water, palette.water)),
    ...schema.piers.flatMap((pier, i) => pierLayers(`pier-${i}`, pier, palette)),
    ...aerowayLayers(schema, palette),
  ];
}

/** Returns a layer of plain areas. */
function fill(id: string, selected: Selected, color: string): LayerSpecification {
  return { id, type: 'fill', ...from(selected), paint: { 'fill-color': color } };
}

function areaLayers(id: string, schema: Schema, palette: Palette, classes: readonly AreaClass[]): LayerSpecification[] {
  return schema.areas.flatMap((area, i): LayerSpecification[] => {
    const present = only(area, classes);
    if (Object.keys(present.values).length === 0) return [];
    return [
      {
        id: `${id}-${i}`,
        type: 'fill',
        ...from(area, isOneOf(present, classes)),
        layout: { 'fill-sort-key': byClass(present, (name) => classes.indexOf(name), 0) },
        paint: { 'fill-color': byClass(present, (name) => palette.areas[name], palette.land) },
      },
    ];
  });
}

/** Returns the layers of these classes only. */
function only(area: Classified<AreaClass>, classes: readonly AreaClass[]): Classified<AreaClass> {
  const values = Object.entries(area.values).filter(([name]) => classes.includes(name as AreaClass));
  return { ...area, values: Object.fromEntries(values) };
}

/** Rivers of a map without streets are so coarse that they leave their cities from here on. */
const lastZoomOfCoarseRivers = 9;

function waterwayLayers({ waterways, roads }: Schema, palette: Palette): LayerSpecification[] {
  if (!waterways) return [];
  const width = (river: number, stream: number) => byClass(waterways, (name) => (name === 'river' ? river : stream), 0);
  const widths = byZoom(
    { 2: width(0.4, 0), 8: width(1, 0), 12: width(1.8, 0.5), 14: width(3, 1.1), 18: width(12, 4) },
    1.4,
  );
  return [
    {
      id: 'waterways',
      type: 'line',
      ...(!roads && { maxzoom: lastZoomOfCoarseRivers }),
      ...from(waterways, isOneOf(waterways, ['river', 'stream'])),
      layout: { 'line-cap': 'round', 'line-join': 'round' },
      paint: { 'line-color': palette.water, 'line-width': widths },
    },
  ];
}

/** Returns a fill and a line layer. Each ignores features of the other kind. */
function pierLayers(id: string, pier: Selected, palette: Palette): LayerSpecification[] {
  const isArea: Selected = { ...pier, ...from(pier, ['==', ['geometry-type'], 'Polygon']) };
  const isLine: Selected = { ...pier, ...from(pier, ['==', ['geometry-type'], 'LineString']) };
  const width = byZoom({ 13: 0.8, 16: 3, 20: 20 }, 1.5);
  return [
    { ...fill(`${id}-area`, isArea, palette.pier), minzoom: 12 } as LayerSpecification,
    {
      id: `${id}-line`,
      type: 'line',
      minzoom: 13,
      ...from(isLine),
      paint: { 'line-color': palette.pier, 'line-width': width },
    },
  ];
}

function aerowayLayers({ aeroways }: Schema, palette: Palette): LayerSpecification[] {
  if (!aeroways) return [];
  const width = (runway: number, taxiway: number) =>
    byClass(aeroways, (name) => (name === 'runway' ? runway : taxiway), 0);
  const widths = byZoom({ 10: width(1, 0), 12: width(4, 0.8), 14: width(11, 3), 18: width(120, 40) }, 1.6);
  return [
    {
      id: 'aeroways',
      type: 'line',
      minzoom: 10,
      ...from(aeroways, isOneOf(aeroways, ['runway', 'taxiway'])),
      paint: { 'line-color': palette.runway, 'line-width': widths },
    },
  ];
}
