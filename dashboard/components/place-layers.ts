/** How places are drawn on a map: their features, and the layers that show them. Pure. */
import type { Feature } from 'geojson';
import type * as maplibregl from 'maplibre-gl';
import { unwrapped } from '../drawing/antimeridian';
import { type Place, ringOfPlace } from '../drawing/places';
import { accents, palettes, type Theme } from './map-look';

/** Which places are shown, and in which colours. */
export interface Display {
  readonly colourBy: 'kind' | 'tag';
  colourOf(place: Place): number;
  isShown(place: Place): boolean;
}

/** All places, in the colours of their kinds. */
export const plainDisplay: Display = {
  colourBy: 'kind',
  colourOf: ({ kind }) => (kind === 'geofence' ? 0 : 1),
  isShown: () => true,
};

const propertiesOf = (place: Place, display: Display) => ({
  id: place.id,
  colour: display.colourOf(place),
  enabled: place.enabled,
  beacon: place.kind === 'beacon',
});

/** Returns the feature of a place at low zooms: a point at its centre. */
export const pointOf = (place: Place, display: Display): Feature => ({
  type: 'Feature',
  geometry: { type: 'Point', coordinates: [...place.centre] },
  properties: propertiesOf(place, display),
});

/**
 * Returns the feature of a place at high zooms. Over the antimeridian it goes on beyond 180 degrees, as MapLibre needs
 * it.
 */
export const shapeOf = (place: Place, display: Display): Feature => ({
  type: 'Feature',
  geometry: { type: 'Polygon', coordinates: [unwrapped(ringOfPlace(place)).map((each) => [...each])] },
  properties: propertiesOf(place, display),
});

/** From here on shapes are large enough, and their centres would only disturb. */
const withoutCentresFromZoom = 14;

type Expression = maplibregl.ExpressionSpecification;

const isEnabled: Expression = ['get', 'enabled'];
const isCluster: Expression = ['has', 'point_count'];
const isPoint: Expression = [
  'all',
  ['!', isCluster],
  ['any', ['get', 'beacon'], ['<', ['zoom'], withoutCentresFromZoom]],
];

/** Returns the filter of each layer that shows all places but the hidden one. */
export function filtersOf(hidden: string | undefined) {
  const isOther: Expression = ['!=', ['get', 'id'], hidden ?? ''];
  return {
    'shape-fill': isOther,
    'shape-line': ['all', isOther, isEnabled],
    'shape-line-disabled': ['all', isOther, ['!', isEnabled]],
    point: ['all', isOther, isPoint],
  } as const satisfies Record<string, maplibregl.FilterSpecification>;
}

/** Returns the colours of each layer that shows all places. */
export function coloursOf({ colourBy }: Display, shade: Theme) {
  const [first, ...rest] = palettes[colourBy][shade];
  const pairs = rest.flatMap((colour, index) => [index + 1, colour]);
  const colour = ['match', ['get', 'colour'], ...pairs, first] as unknown as Expression;
  const { halo } = accents[shade];
  return {
    'shape-fill': { 'fill-color': colour },
    'shape-line': { 'line-color': colour },
    'shape-line-disabled': { 'line-color': colour },
    point: {
      'circle-color': ['case', isEnabled, colour, halo],
      'circle-stroke-color': ['case', isEnabled, halo, colour],
    },
  } as const satisfies Record<string, Record<string, Expression>>;
}

/** Returns the layers from the lowest to the highest: of the sources `shapes`, `points`, `chosen` and `marked`. */
export const layersOf = (display: Display, shade: Theme, hidden: string | undefined): maplibregl.AddLayerObject[] => [
  ...layersOfPlaces(display, shade, hidden),
  ...layersOfClusters(shade),
  ...layersOfChoice(shade),
];

function layersOfPlaces(display: Display, shade: Theme, hidden: string | undefined): maplibregl.AddLayerObject[] {
  const filters = filtersOf(hidden);
  const colours = coloursOf(display, shade);
  const layer = <Id extends keyof typeof filters>(id: Id) => ({ id, filter: filters[id] });
  return [
    {
      ...layer('shape-fill'),
      type: 'fill',
      source: 'shapes',
      // The line smooths the edge.
      paint: {
        ...colours['shape-fill'],
        'fill-opacity': ['case', isEnabled, 0.18, 0.05],
        'fill-antialias': false,
      },
    },
    {
      ...layer('shape-line'),
      type: 'line',
      source: 'shapes',
      paint: { ...colours['shape-line'], 'line-width': 1.6 },
    },
    {
      ...layer('shape-line-disabled'),
      type: 'line',
      source: 'shapes',
      paint: {
        ...colours['shape-line-disabled'],
        'line-width': 1.2,
        'line-opacity': 0.75,
        'line-dasharray': [3, 3],
      },
    },
    {
      ...layer('point'),
      type: 'circle',
      source: 'points',
      paint: {
        ...colours.point,
        'circle-radius': ['case', ['get', 'beacon'], 5, 4],
        'circle-stroke-width': ['case', isEnabled, 1.5, 2],
      },
    },
  ];
}

function layersOfClusters(shade: Theme): maplibregl.AddLayerObject[] {
  const { cluster, text } = accents[shade];
  return [
    {
      id: 'cluster',
      type: 'circle',
      source: 'points',
      filter: isCluster,
      paint: {
        'circle-color': cluster,
        'circle-radius': ['step', ['get', 'point_count'], 13, 100, 16, 1_000, 20, 10_000, 25],
        'circle-stroke-width': 2,
        'circle-stroke-color': palettes.kind[shade][0],
      },
    },
    {
      id: 'cluster-count',
      type: 'symbol',
      source: 'points',
      filter: isCluster,
      layout: {
        'text-field': ['get', 'point_count_abbreviated'],
        'text-font': ['Noto Sans Medium'],
        'text-size': 12,
        'text-allow-overlap': true,
      },
      paint: { 'text-color': text },
    },
  ];
}

function layersOfChoice(shade: Theme): maplibregl.AddLayerObject[] {
  const { chosen, halo } = accents[shade];
  return [
    {
      id: 'chosen-line',
      type: 'line',
      source: 'chosen',
      paint: { 'line-color': chosen, 'line-width': 3 },
    },
    {
      id: 'chosen-point',
      type: 'circle',
      source: 'chosen',
      filter: ['==', ['geometry-type'], 'Point'],
      paint: {
        'circle-color': chosen,
        'circle-radius': 7,
        'circle-stroke-width': 2,
        'circle-stroke-color': halo,
      },
    },
    {
      id: 'marked',
      type: 'circle',
      source: 'marked',
      paint: {
        'circle-color': chosen,
        'circle-opacity': 0.25,
        'circle-radius': 10,
        'circle-stroke-width': 2,
        'circle-stroke-color': chosen,
      },
    },
  ];
}
