/** Layers of text. Later layers are placed first, so the most important come last. */
import type {
  ExpressionSpecification,
  LayerSpecification,
  SymbolLayerSpecification,
} from '@maplibre/maplibre-gl-style-spec';
import {
  type AreaAround,
  areaAround,
  leavesSpace,
  mostMoves,
  movesOthers,
  namesSquares,
  type RepeatDistance,
  repeatDistance,
  reservesSpace,
} from '../../style/placement-hints.js';
import { byClass, byZoom, expression, firstName, from, isOneOf } from '../expressions.js';
import type { LabelColors, Palette } from '../palette.js';
import { famousClasses, famousZoom, orderOfClass, orderOfRenown, poiClasses, poiImage, poiStyles } from '../pois.js';
import type { PoiClass, RoadClass, Schema, SchemaLabels, WaterLabels, WaterwayClass } from '../schema.js';
import { shieldLayers } from './shields.js';

const regular = ['Fenceline Sans Regular'];
/** Of waters, as on printed maps. */
const italic = ['Fenceline Sans Italic'];

/** Features with several names, such as `Hang Ah Alley;Pagoda Alley`, show the first. */
export function labelLayers(allNames: Schema, palette: Palette): LayerSpecification[] {
  const schema = { ...allNames, labels: { ...allNames.labels, name: firstName(allNames.labels.name) } };
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
  // A building with several numbers, such as `218;222`, shows the first.
  const number = firstName(houseNumbers.number);
  return [
    {
      id: 'label-house-number',
      type: 'symbol',
      minzoom: 17,
      metadata: { [repeatDistance]: sameAddress },
      ...from(houseNumbers, expression('<=', ['length', number], maxNumberLength)),
      layout: {
        'text-field': number,
        'text-font': regular,
        'text-size': byZoom({ 17: 9, 20: 12 }),
        'text-padding': 3,
      },
      paint: inColors(palette.labels.houseNumber, 1),
    },
  ];
}

/** Longer ones are names of streets or houses. */
const maxNumberLength = 8;

/** Addresses of one building, in one street. About 25 metres. */
const sameAddress: RepeatDistance = { px: 30, zoom: 17 };

/** Points of interest that start at one zoom. */
interface PoiTier {
  readonly minzoom: number;
  /** Set where they only fill what is left. */
  readonly maxzoom?: number;
  readonly classes: readonly PoiClass[];
  /** Whether they move names of streets that have another place. It costs time, so only sights do. */
  readonly isMoving: boolean;
}

const isMovingClass = (name: PoiClass): boolean => ['attraction', 'castle'].includes(name);

/** Landmarks that already appear one zoom earlier, where no street needs the space. */
const fillers: readonly PoiTier[] = [
  { minzoom: 15, maxzoom: 16, classes: ['theatre', 'mall'], isMoving: false },
  { minzoom: 14, maxzoom: 15, classes: ['museum', 'stadium', 'zoo', 'hospital'], isMoving: false },
];

/** The first ones last: their layers are placed first. */
const poiTiers: readonly PoiTier[] = [
  ...fillers,
  ...[...new Set(poiClasses.map((name) => poiStyles[name].minZoom))]
    .sort((a, b) => b - a)
    .flatMap((minzoom) =>
      [false, true].map((isMoving) => ({
        minzoom,
        isMoving,
        classes: poiClasses.filter((name) => poiStyles[name].minZoom === minzoom && isMovingClass(name) === isMoving),
      })),
    ),
];
/** Points that start at this zoom or earlier are landmarks: streets leave them space, if they have another place. */
const landmarkZoom = 15;
/** Stations and airports, which start at this zoom or earlier, come before streets. */
const firstZoom = 13;
/** A landmark of several entries, such as a palace and the museum in it, has one name. About 150 metres. */
const sameLandmark: RepeatDistance = { px: 150, zoom: 16 };

/** Texts are below, above, beside or aslant of their icons, wherever there is space. Ems. */
const aroundIcon = [
  ...['top', [0, 0.85], 'bottom', [0, -0.85], 'left', [1, 0], 'right', [-1, 0]],
  ...['top-left', [0.6, 0.6], 'top-right', [-0.6, 0.6], 'bottom-left', [0.6, -0.6], 'bottom-right', [-0.6, -0.6]],
];

function poiLayers(which: 'first' | 'others', schema: Schema, palette: Palette): LayerSpecification[] {
  const tiers = poiTiers.filter(({ minzoom }) => (which === 'first') === minzoom <= firstZoom);
  const layers = tiers.flatMap(({ minzoom, maxzoom, classes, isMoving }) => {
    return schema.labels.pois.flatMap((poi, i) => {
      const mayBeFamous = poi.isFamous && classes.some((name) => famousClasses.includes(name));
      const isOther = expression('!', ['all', isOneOf(poi, famousClasses), poi.isFamous]);
      const metadata = {
        ...(minzoom <= landmarkZoom && (maxzoom ? once : landmark)),
        ...(isMoving && moving),
        ...(which === 'first' && yielding),
      };
      const zooms = { minzoom, ...(maxzoom && { maxzoom }) };
      const id = `label-poi-${minzoom}${isMoving ? '-moving' : ''}${maxzoom ? '-early' : ''}-${i}`;
      const named = { id, ...zooms, metadata };
      return poiLayer(named, poi, classes, mayBeFamous ? [isOther] : [], schema, palette);
    });
  });
  if (which === 'first') return layers;
  const famous = schema.labels.pois.flatMap((poi, i) => {
    if (!poi.isFamous) return [];
    const early = { id: `label-poi-famous-early-${i}`, minzoom: famousZoom - 1, maxzoom: famousZoom, metadata: once };
    const named = { id: `label-poi-famous-${i}`, minzoom: famousZoom, metadata: { ...landmark, ...moving } };
    const layersOf = (which: typeof early | typeof named) =>
      poiLayer(which, poi, famousClasses, [poi.isFamous!], schema, palette);
    return [early, named].flatMap(layersOf);
  });
  return [...layers, ...largeBuildingLayers(schema, palette), ...largeParkLayers(schema, palette), ...famous];
}

function largeParkLayers(schema: Schema, palette: Palette): LayerSpecification[] {
  return schema.labels.pois.flatMap((poi, i) => {
    const { parks, isUnranked } = poi;
    if (!parks) return [];
    const metadata = { ...landmark, ...movingLess, [areaAround]: { ...parks, minPx2: largeParkPx2 } };
    const early = { id: `label-poi-large-${i}`, minzoom: famousZoom, maxzoom: poiStyles.park.minZoom, metadata };
    // Beside large buildings, they come before these.
    const late = { ...early, id: `label-poi-larger-${i}`, minzoom: poiStyles.park.minZoom, maxzoom: largestUntil };
    return [
      ...poiLayer(early, poi, ['park'], [], schema, palette),
      ...(isUnranked ? poiLayer(late, poi, ['park'], [isUnranked], schema, palette) : []),
    ];
  });
}

/** From this zoom on large parks and buildings come after no others. */
const largestUntil = 16;

/** Parks that are wider than an icon on the map. */
const largeParkPx2 = 600;

interface LargeBuildings extends Pick<PoiTier, 'classes'> {
  /** Whether the point may be anywhere in the building. No other place in it is of such a class. */
  readonly isAnywhere?: true;
  /** Whether they are sights, and move as many names as others. */
  readonly isMoving?: true;
  /** Smallest building on the map. In the middle latitudes, 100 are 1,000 to 1,400 square metres at zoom 14. */
  readonly minPx2: number;
}

/** What visitors come for where no tile tells what they know. The last are placed first. */
const largeBuildings: readonly LargeBuildings[] = [
  { classes: ['mall'], minPx2: 400 },
  { classes: ['theatre', 'worship', 'library', 'museum'], minPx2: 160 },
  { classes: ['stadium'], minPx2: 600, isAnywhere: true },
  { classes: ['townhall', 'unranked', 'castle'], minPx2: 100, isMoving: true },
];

function largeBuildingLayers(schema: Schema, palette: Palette): LayerSpecification[] {
  const { buildings, labels } = schema;
  return labels.pois.flatMap((poi, i) => {
    if (!poi.isUnranked || !buildings) return [];
    const conditions = [poi.isUnranked, expression('!=', poi.tag, 'courthouse')];
    return largeBuildings.flatMap(({ classes, minPx2, isAnywhere, isMoving }) => {
      const around: AreaAround = { sourceLayer: buildings.sourceLayer, ...(!isAnywhere && { isMiddle: true }), minPx2 };
      const named = {
        id: `label-poi-building-${classes[0]}-${i}`,
        minzoom: famousZoom,
        ...(!isMoving && { maxzoom: largestUntil }),
        metadata: { ...landmark, ...(isMoving ? moving : movingLess), [areaAround]: around },
      };
      return poiLayer(named, poi, classes, conditions, schema, palette);
    });
  });
}

const once = { [repeatDistance]: sameLandmark };
/** Streets leave a landmark space, and it has one name. */
const landmark = { [reservesSpace]: true, ...once };
/** A map has many landmarks, and one without a place must not use up the moves of the others. */
const moving = { [movesOthers]: true, [mostMoves]: 40 };
/** Large parks and buildings are more, and most have a place at once or none. */
const movingLess = { ...moving, [mostMoves]: 12 };
/** The name of a station stands on another side of its icon if that leaves a landmark space. */
const yielding = { [leavesSpace]: true };

function poiLayer(
  { metadata, ...named }: Pick<SymbolLayerSpecification, 'id' | 'minzoom' | 'maxzoom' | 'metadata'>,
  poi: SchemaLabels['pois'][number],
  classes: readonly PoiClass[],
  conditions: readonly ExpressionSpecification[],
  { labels: { name } }: Schema,
  palette: Palette,
): LayerSpecification[] {
  if (!classes.some((wanted) => poi.values[wanted])) return [];
  const color = (part: keyof LabelColors) =>
    byClass(poi, (of) => palette.labels.pois[poiStyles[of].color][part], palette.labels.pois.civic[part]);
  const orders = [byClass(poi, orderOfClass, 0), ...(poi.order ? [poi.order] : [])];
  if (poi.isFamous && classes.some((of) => famousClasses.includes(of))) orders.push(orderOfRenown);
  return [
    {
      ...named,
      type: 'symbol',
      metadata,
      ...from(poi, isOneOf(poi, classes), expression('!=', name, ''), ...conditions),
      layout: {
        'symbol-sort-key': expression('+', ...orders),
        'text-field': name,
        'text-font': ['Fenceline Sans Medium'],
        'text-size': byZoom({ 10: 10.5, 14: 10.5, 20: 12.5 }),
        'text-max-width': 9,
        'text-padding': named.minzoom! <= landmarkZoom ? 3 : 5,
        'text-variable-anchor-offset': aroundIcon as [],
        'icon-image': expression('image', byClass(poi, poiImage, poiImage('shop'))),
        'icon-padding': 2,
      },
      paint: { 'text-color': color('text'), 'text-halo-color': color('halo'), 'text-halo-width': 1.2 },
    },
  ];
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
      metadata: { [namesSquares]: true, [movesOthers]: true },
      ...from(roads, isOneOf(roads, classes)),
      layout: {
        'symbol-placement': 'line',
        'symbol-spacing': 300,
        // A bridge is hardly longer than its name, and has no other place.
        ...(schema.roads && { 'symbol-sort-key': expression('case', schema.roads.isBridge, 0, 1) }),
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
      metadata: { [namesSquares]: true },
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
