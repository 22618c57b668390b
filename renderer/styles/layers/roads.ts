/**
 * Layers of roads, railways and ferries: tunnels, surface and bridges.
 *
 * Each level has one layer for all casings and one for all fills, so that casings do not cross junctions. Within a
 * layer larger roads are drawn on top.
 */
import type { ExpressionSpecification, LayerSpecification } from '@maplibre/maplibre-gl-style-spec';
import { blend } from '../color.js';
import { byClass, byZoom, expression, from, isOneOf } from '../expressions.js';
import type { Palette } from '../palette.js';
import {
  type Classified,
  type Levelled,
  type RailClass,
  type RoadClass,
  roadClasses,
  type Schema,
  type SideTracks,
} from '../schema.js';

type Level = 'tunnel' | 'ground' | 'bridge';
type Roads = Classified<RoadClass> & Levelled;
type Rails = Classified<RailClass> & Levelled & SideTracks;

/** Roads without casings. */
const pathClasses: readonly RoadClass[] = ['path', 'track'];
const streetClasses = roadClasses.filter((name) => !pathClasses.includes(name));

const zooms = [5, 8, 10, 12, 13, 14, 15, 16, 18, 20];

/** Width between the casings in CSS pixels, at each of the zooms. */
const widths: Readonly<Record<RoadClass, readonly number[]>> = {
  motorway: [0.6, 1.2, 1.9, 3.0, 4.0, 5.2, 7.2, 10, 25, 64],
  motorway_link: [0, 0, 0.8, 1.6, 2.2, 3.0, 4.4, 6.4, 15, 40],
  trunk: [0.3, 0.8, 1.4, 2.6, 3.4, 4.6, 6.6, 9.2, 23, 58],
  primary: [0, 0.6, 1.2, 2.2, 3.0, 4.2, 6.2, 8.8, 22, 56],
  primary_link: [0, 0, 0.6, 1.2, 1.8, 2.6, 4.0, 6.0, 14, 38],
  secondary: [0, 0, 1.0, 1.7, 2.4, 3.6, 5.5, 8.0, 20, 52],
  tertiary: [0, 0, 0.6, 1.2, 1.8, 3.0, 4.8, 7.2, 18, 48],
  minor: [0, 0, 0, 0.5, 1.0, 1.9, 3.4, 5.6, 15, 42],
  service: [0, 0, 0, 0, 0, 0.8, 1.7, 3.0, 9, 26],
  pedestrian: [0, 0, 0, 0, 0, 1.1, 2.2, 3.8, 11, 30],
  track: [0, 0, 0, 0, 0, 0.6, 0.9, 1.3, 2.4, 4],
  path: [0, 0, 0, 0, 0, 0.4, 0.7, 1.1, 1.8, 3],
};

/** Width of one casing in CSS pixels, at each of the zooms. */
const casingWidths = [0, 0.2, 0.4, 0.45, 0.6, 0.75, 0.9, 1.0, 1.3, 2];

/** Returns the layers from the lowest to the highest, of what the schema has. */
export function roadLayers({ roads, rails, ferries }: Schema, palette: Palette): LayerSpecification[] {
  return [
    ...(ferries ? [ferryLayer(ferries, palette)] : []),
    ...(roads ? streetLayers('tunnel', roads, palette) : []),
    ...(roads ? pathLayers(roads, palette) : []),
    ...(roads ? streetLayers('ground', roads, palette) : []),
    ...(rails ? railLayers('ground', rails, palette) : []),
    ...(roads ? streetLayers('bridge', roads, palette) : []),
    ...(rails ? railLayers('bridge', rails, palette) : []),
  ];
}

function streetLayers(level: Level, roads: Roads, palette: Palette): LayerSpecification[] {
  const selected = from(roads, isOneOf(roads, streetClasses), isAt(level, roads));
  const isTunnel = level === 'tunnel';
  const seen = (color: string) => (isTunnel ? blend(color, palette.land, palette.tunnelOpacity) : color);
  const sortKey = byClass(roads, (name) => roadClasses.indexOf(name), 0);
  return [
    {
      id: `road-${level}-casing`,
      type: 'line',
      // At lower zooms casings would drown the names.
      minzoom: isTunnel || level === 'bridge' ? 11 : 7,
      ...selected,
      layout: { 'line-cap': level === 'ground' ? 'round' : 'butt', 'line-join': 'round', 'line-sort-key': sortKey },
      paint: {
        'line-color': byClass(roads, (name) => seen(palette.roads[name].casing), palette.land),
        'line-width': widthByZoom(roads, (name, i) =>
          widths[name][i]! === 0 ? 0 : widths[name][i]! + 2 * casingWidths[i]!,
        ),
        ...(isTunnel && { 'line-dasharray': [1.5, 0.8] }),
      },
    },
    {
      id: `road-${level}`,
      type: 'line',
      minzoom: 5,
      ...selected,
      layout: { 'line-cap': 'round', 'line-join': 'round', 'line-sort-key': sortKey },
      paint: {
        'line-color': byZoom({
          6: palette.distantRoad,
          9: byClass(roads, (name) => seen(palette.roads[name].fill), palette.land),
        }),
        'line-width': widthByZoom(roads, (name, i) => widths[name][i]!),
      },
    },
  ];
}

/** Solid at zooms where dashes would be too thin to see. */
function pathLayers(roads: Roads, palette: Palette): LayerSpecification[] {
  const selected = from(roads, isOneOf(roads, pathClasses), expression('!', roads.isTunnel));
  const paint = {
    'line-color': byClass(roads, (name) => palette.roads[name].fill, palette.land),
    'line-width': widthByZoom(roads, (name, i) => widths[name][i]!),
  };
  return [
    { id: 'path', type: 'line', minzoom: 14, maxzoom: 17, ...selected, layout: { 'line-join': 'round' }, paint },
    {
      id: 'path-dashed',
      type: 'line',
      minzoom: 17,
      ...selected,
      layout: { 'line-join': 'round' },
      paint: { ...paint, 'line-dasharray': [2.5, 1.2] },
    },
  ];
}

/** Widths of main tracks, side tracks and transit in CSS pixels, by zoom. */
const railWidths: Readonly<Record<number, readonly [main: number, side: number, transit: number]>> = {
  8: [0.4, 0, 0],
  13: [0.8, 0, 0],
  14: [0.9, 0.5, 0.7],
  16: [1.2, 0.7, 1],
  20: [3, 1.6, 3],
};

function railLayers(level: Level, rails: Rails, palette: Palette): LayerSpecification[] {
  const at = isAt(level, rails);
  const widthOf = ([main, side, transit]: readonly [number, number, number]) =>
    byClass(rails, (name) => (name === 'rail' ? expression('case', rails.isSideTrack, side, main) : transit), 0);
  const base: LayerSpecification = {
    id: `rail-${level}`,
    type: 'line',
    minzoom: 8,
    ...from(rails, isOneOf(rails, ['rail', 'transit']), at),
    layout: { 'line-join': 'round' },
    paint: {
      'line-color': byClass(rails, (name) => palette[name], palette.rail),
      'line-width': byZoom(
        Object.fromEntries(Object.entries(railWidths).map(([zoom, of]) => [zoom, widthOf(of)])),
        1.3,
      ),
    },
  };
  // Ties of side tracks would join to a lattice.
  const ties: LayerSpecification = {
    id: `rail-${level}-ties`,
    type: 'line',
    minzoom: 17,
    ...from(rails, isOneOf(rails, ['rail']), at, expression('!', rails.isSideTrack)),
    paint: {
      'line-color': palette.rail,
      'line-width': byZoom({ 17: 4, 20: 9 }, 1.3),
      'line-dasharray': [0.2, 3.2],
    },
  };
  return [base, ties];
}

function ferryLayer(ferries: NonNullable<Schema['ferries']>, palette: Palette): LayerSpecification {
  return {
    id: 'ferry',
    type: 'line',
    minzoom: 7,
    ...from(ferries),
    paint: {
      'line-color': palette.ferry,
      'line-width': byZoom({ 8: 0.4, 16: 1.2 }),
      'line-dasharray': [5, 4],
    },
  };
}

function isAt(level: Level, { isTunnel, isBridge }: Levelled): ExpressionSpecification {
  if (level === 'tunnel') return isTunnel;
  return expression('all', ['!', isTunnel], level === 'bridge' ? isBridge : ['!', isBridge]);
}

function widthByZoom(roads: Roads, widthOf: (name: RoadClass, zoomIndex: number) => number): ExpressionSpecification {
  const values = zooms.map((zoom, i) => [zoom, byClass(roads, (name) => round(widthOf(name, i)), 0)]);
  return byZoom(Object.fromEntries(values), 1.4);
}

const round = (pixels: number): number => Math.round(100 * pixels) / 100;
