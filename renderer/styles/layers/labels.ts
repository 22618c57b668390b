/** Layers of text. Later layers are placed first, so the most important come last. */

import type {
  ExpressionSpecification,
  LayerSpecification,
  SymbolLayerSpecification,
} from '@maplibre/maplibre-gl-style-spec';
import {
  movesOthers,
  namesSquares,
  type RepeatDistance,
  repeatDistance,
  reservesSpace,
} from '../../style/reserves-space.js';
import { byClass, byZoom, expression, from, isOneOf } from '../expressions.js';
import type { LabelColors, Palette } from '../palette.js';
import { poiClasses, poiImage, poiStyles } from '../pois.js';
import type { RoadClass, Schema, WaterLabels, WaterwayClass } from '../schema.js';
import { shieldLayers } from './shields.js';

const regular = ['Fenceline Sans Regular'];
/** Of waters, as on printed maps. */
const italic = ['Fenceline Sans Italic'];

export function labelLayers(schema: Schema, palette: Palette): LayerSpecification[] {
  return [
    ...houseNumberLayers(schema, palette),
    ...poiLayers('others', schema, palette),
    ...waterLabelLayers('small', schema, palette),
    ...waterwayLabelLayers('stream', schema, palette),
    ...roadLabelLayers(schema, palette),
    ...shieldLayers(schema, palette),
    ...poiLayers('first', schema, palette),
    ...waterwayLabelLayers('river', schema, palette),
    ...waterLabelLayers('large', schema, palette),
  ];
}

/** Returns paint with the label's halo. */
export function inColors({ text, halo }: LabelColors, haloWidth = 1.4): NonNullable<SymbolLayerSpecification['paint']> {
  return { 'text-color': text, 'text-halo-color': halo, 'text-halo-width': haloWidth };
}

function houseNumberLayers({ labels: { houseNumbers } }: Schema, palette: Palette): LayerSpecification[] {
  if (!houseNumbers) return [];
  return [
    {
      id: 'label-house-number',
      type: 'symbol',
      minzoom: 17,
      metadata: { [repeatDistance]: sameAddress },
      ...from(houseNumbers),
      layout: {
        'text-field': firstOf(expression('to-string', houseNumbers.number)),
        'text-font': regular,
        'text-size': byZoom({ 17: 9, 20: 12 }),
        'text-padding': 3,
      },
      paint: inColors(palette.labels.houseNumber, 1),
    },
  ];
}

/** Addresses of one building, in one street. About 25 metres. */
const sameAddress: RepeatDistance = { px: 30, zoom: 17 };

/** A building with several numbers, such as `218;222`, shows the first. */
const firstOf = (list: ExpressionSpecification): ExpressionSpecification =>
  expression('case', ['in', ';', list], ['slice', list, 0, ['index-of', ';', list]], list);

/** Zooms at which kinds of points of interest start, the first ones last: their layers are placed first. */
const poiZooms = [...new Set(poiClasses.map((name) => poiStyles[name].minZoom))].sort((a, b) => b - a);
/** Points that start at this zoom or earlier are landmarks: streets leave them space, if they have another place. */
const landmarkZoom = 15;
/** Stations and airports, which start at this zoom or earlier, come before streets. */
const firstZoom = 13;
/** A landmark of several entries, such as both ends of a cable car, has one name. */
const sameLandmark: RepeatDistance = { px: 100 };

/** Texts are below, above, beside or aslant of their icons, wherever there is space. Ems. */
const aroundIcon = [
  ...['top', [0, 0.85], 'bottom', [0, -0.85], 'left', [1, 0], 'right', [-1, 0]],
  ...['top-left', [0.6, 0.6], 'top-right', [-0.6, 0.6], 'bottom-left', [0.6, -0.6], 'bottom-right', [-0.6, -0.6]],
];

function poiLayers(
  which: 'first' | 'others',
  { labels: { pois, name } }: Schema,
  palette: Palette,
): LayerSpecification[] {
  const zooms = poiZooms.filter((zoom) => (which === 'first') === zoom <= firstZoom);
  return zooms.flatMap((minzoom) => {
    const classes = poiClasses.filter((each) => poiStyles[each].minZoom === minzoom);
    return pois.flatMap((poi, i): LayerSpecification[] => {
      if (!classes.some((wanted) => poi.values[wanted])) return [];
      const color = (part: keyof LabelColors) =>
        byClass(poi, (of) => palette.labels.pois[poiStyles[of].color][part], palette.labels.pois.civic[part]);
      const order = byClass(poi, (of) => 1_000 * (1 + poiClasses.indexOf(of)), 0);
      const isLandmark = minzoom <= landmarkZoom;
      return [
        {
          id: `label-poi-${minzoom}-${i}`,
          type: 'symbol',
          minzoom,
          ...(isLandmark && {
            metadata: {
              [reservesSpace]: true,
              [repeatDistance]: sameLandmark,
              // Costs time, so only the few that everybody knows move names of streets that have another place.
              ...(classes.includes('landmark') && poi.values.landmark && { [movesOthers]: true }),
            },
          }),
          ...from(poi, isOneOf(poi, classes), expression('!=', ['to-string', name], '')),
          layout: {
            'symbol-sort-key': poi.order ? expression('+', order, poi.order) : order,
            'text-field': name,
            'text-font': ['Fenceline Sans Medium'],
            'text-size': byZoom({ 10: 10.5, 14: 10.5, 20: 12.5 }),
            'text-max-width': 9,
            'text-padding': isLandmark ? 3 : 5,
            'text-variable-anchor-offset': aroundIcon as [],
            'icon-image': expression('image', byClass(poi, poiImage, poiImage('shop'))),
            'icon-padding': 2,
          },
          paint: { 'text-color': color('text'), 'text-halo-color': color('halo'), 'text-halo-width': 1.2 },
        },
      ];
    });
  });
}

function waterwayLabelLayers(
  of: WaterwayClass,
  { labels: { waterways, name } }: Schema,
  palette: Palette,
): LayerSpecification[] {
  if (!waterways) return [];
  return [
    {
      id: `label-waterway-${of}`,
      type: 'symbol',
      minzoom: 12,
      ...from(waterways, isOneOf(waterways, [of])),
      layout: {
        'symbol-placement': 'line',
        'symbol-spacing': 400,
        'text-field': name,
        'text-font': italic,
        'text-letter-spacing': 0.08,
        'text-size': byZoom({ 12: 10.5, 18: 14 }),
      },
      paint: inColors(palette.labels.water, 1.2),
    },
  ];
}

interface RoadLabels {
  readonly id: string;
  readonly minZoom: number;
  readonly classes: readonly RoadClass[];
  /** Sizes at zooms 12 and 18. */
  readonly sizes: readonly [number, number];
}

const roadTiers: readonly RoadLabels[] = [
  { id: 'path', minZoom: 17, classes: ['path', 'track'], sizes: [9, 11.5] },
  { id: 'minor', minZoom: 13, classes: ['minor', 'service', 'pedestrian'], sizes: [9, 13] },
  { id: 'medium', minZoom: 13, classes: ['secondary', 'tertiary'], sizes: [9.5, 14] },
  { id: 'major', minZoom: 12, classes: ['motorway', 'trunk', 'primary'], sizes: [10, 15] },
];

function roadLabelLayers(schema: Schema, palette: Palette): LayerSpecification[] {
  const { roads, name } = schema.labels;
  if (!roads) return [];
  return roadTiers.flatMap(({ id, minZoom, classes, sizes: [small, large] }): LayerSpecification[] => [
    {
      id: `label-road-${id}`,
      type: 'symbol',
      minzoom: minZoom,
      metadata: { [namesSquares]: true },
      ...from(roads, isOneOf(roads, classes)),
      layout: {
        'symbol-placement': 'line',
        'symbol-spacing': 300,
        'text-field': name,
        'text-font': regular,
        'text-size': byZoom({ 12: small, 18: large }),
        'text-padding': 2,
        'text-max-angle': 40,
      },
      paint: inColors(palette.labels.road, 1.5),
    },
    ...(id === 'minor' ? squareLabelLayers(schema, palette) : []),
  ]);
}

function squareLabelLayers({ labels: { squares, name } }: Schema, palette: Palette): LayerSpecification[] {
  if (!squares) return [];
  return [
    {
      id: 'label-square',
      type: 'symbol',
      minzoom: 16,
      ...from(squares),
      layout: {
        'text-field': name,
        'text-font': regular,
        'text-size': byZoom({ 12: 9, 18: 13 }),
        'text-max-width': 8,
        'text-padding': 2,
      },
      paint: inColors(palette.labels.road, 1.5),
    },
  ];
}

/** Waters are wider than their names, which move to a free place. Ems. */
const aroundPoint = [
  'center',
  [0, 0],
  'center',
  [0, -1.2],
  'center',
  [0, 1.2],
  'center',
  [-1.5, 0],
  'center',
  [1.5, 0],
];

function waterLabelLayers(
  size: 'small' | 'large',
  { labels: { water, name } }: Schema,
  palette: Palette,
): LayerSpecification[] {
  const isShown = ({ isSmall }: WaterLabels) => isSmall !== undefined || size === 'large';
  return water.filter(isShown).map(({ order, isSmall, isLine, ...selected }, i) => ({
    id: `label-water-${size}-${i}`,
    type: 'symbol',
    ...(size === 'small' && { minzoom: 15 }),
    ...from(selected, ...(isSmall ? [size === 'small' ? isSmall : expression('!', isSmall)] : [])),
    layout: {
      ...(isLine
        ? { 'symbol-placement': 'line', 'symbol-spacing': 400 }
        : { 'text-variable-anchor-offset': aroundPoint as [] }),
      ...(order && { 'symbol-sort-key': order }),
      'text-field': name,
      'text-font': italic,
      'text-letter-spacing': size === 'small' ? 0.02 : 0.08,
      'text-max-width': 7,
      'text-size': byZoom(size === 'small' ? { 15: 9.5, 20: 11 } : { 1: 10, 4: 11.5, 8: 12, 12: 12.5, 15: 12, 20: 13 }),
    },
    paint: inColors(palette.labels.water, 1),
  }));
}
