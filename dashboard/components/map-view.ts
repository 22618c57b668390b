/** The map of a page: our own style and tiles, with geofences and beacons on it. */
import type { Feature, FeatureCollection } from 'geojson';
import * as maplibregl from 'maplibre-gl';
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url';
import 'maplibre-gl/dist/maplibre-gl.css';
import { callHeaders } from '../client/call';
import { type Place, type PlaceName, placesWithin, ringOfPlace } from '../drawing/places';
import type { Position } from '../drawing/shape';

maplibregl.setWorkerUrl(workerUrl);

export type Theme = 'light' | 'dark';
export type MapStyle = 'svc-default-v1' | 'svc-light-v1' | 'svc-dark-v1';

/** What is drawn on a style must be seen on it, so its colours follow the style and not the page. */
const shadeOf = (style: MapStyle): Theme => (style === 'svc-dark-v1' ? 'dark' : 'light');

/** The colours of kinds, and of tags, by number. */
export const palettes = {
  kind: { light: ['#0b6b66', '#8a4bb5'], dark: ['#52c5ba', '#c79be8'] },
  tag: {
    light: ['#0b6b66', '#c2410c', '#1d4ed8', '#8a4bb5', '#a16207', '#be185d', '#3f6212', '#5b6772'],
    dark: ['#52c5ba', '#fb923c', '#7aa7ff', '#c79be8', '#facc15', '#f472b6', '#a3d977', '#a3b1bd'],
  },
} as const;
export const accents = {
  light: { chosen: '#c2410c', halo: '#ffffff', text: '#15212b', cluster: '#ffffff', problem: '#b3261e' },
  dark: { chosen: '#fdba74', halo: '#0e1418', text: '#e4ebf0', cluster: '#1a242b', problem: '#ff9a91' },
} as const;

/** Returns the quiet style of a theme. */
export const styleOfTheme = (theme: Theme): MapStyle => (theme === 'dark' ? 'svc-dark-v1' : 'svc-light-v1');

/** A map without anything on it. Layers are added again with each style. */
export interface BaseMap {
  readonly map: maplibregl.Map;
  /** Of the present style. */
  shade(): Theme;
  /** @param before is called before another style replaces this one. */
  setStyle(style: MapStyle, before?: () => void): void;
}

export interface View {
  readonly centre: Position;
  readonly zoom: number;
}

interface BaseOptions {
  readonly container: HTMLElement;
  readonly style: MapStyle;
  readonly view?: View | undefined;
  /** Adds the layers of the page: a style begins without them. */
  onStyle(map: maplibregl.Map, shade: Theme): void;
}

const retryMs = 3_000;

/** Throws without WebGL. */
export function createBaseMap({ container, style: first, view, onStyle }: BaseOptions): BaseMap {
  let style = first;
  const urlOf = (name: MapStyle) => `/maps/styles/${name}`;
  const map: maplibregl.Map = new maplibregl.Map({
    container,
    style: urlOf(style),
    center: view ? [...view.centre] : [8, 40],
    zoom: view?.zoom ?? 1.5,
    attributionControl: { compact: true },
    // Only this server gets the choice of the session.
    transformRequest: (url) =>
      url.startsWith(location.origin) || url.startsWith('/') ? { url, headers: callHeaders() } : { url },
  });
  // Assistive software waits until all that is known is drawn.
  const setBusy = (isBusy: boolean) => container.setAttribute('aria-busy', `${isBusy}`);
  setBusy(true);
  map.on('dataloading', () => setBusy(true));
  map.on('movestart', () => setBusy(true));
  map.on('idle', () => setBusy(false));
  map.addControl(new maplibregl.NavigationControl({ visualizePitch: false }), 'bottom-right');
  map.addControl(new maplibregl.ScaleControl({}), 'bottom-left');
  let isLoaded = false;
  let again: ReturnType<typeof setTimeout> | undefined;
  map.on('style.load', () => {
    isLoaded = true;
    onStyle(map, shadeOf(style));
  });
  // A server that has just started may not have a map yet.
  map.on('error', () => {
    if (isLoaded || again !== undefined) return;
    again = setTimeout(() => {
      again = undefined;
      map.setStyle(urlOf(style), { diff: false });
    }, retryMs);
  });
  map.on('remove', () => clearTimeout(again));
  return {
    map,
    shade: () => shadeOf(style),
    setStyle(next, before) {
      if (next === style) return;
      style = next;
      isLoaded = false;
      before?.();
      map.setStyle(urlOf(style), { diff: false });
    },
  };
}

/** Below this zoom a geofence is smaller than a point, and near points are one. */
const shapesFromZoom = 11;
/** More shapes in one view are points only. */
const maxShapes = 4_000;

export interface Display {
  readonly colourBy: 'kind' | 'tag';
  colourOf(place: Place): number;
  isShown(place: Place): boolean;
}

export interface MapView extends BaseMap {
  /** Shows all places in another way, or other places. */
  setPlaces(places: ReadonlyMap<string, Place>, display: Display): void;
  /** Shows further places, or the same in another state. */
  putPlaces(places: readonly Place[]): void;
  dropPlace(id: string): void;
  /** Marks the place. */
  choose(place: Place | undefined): void;
  /** Hides the place, which is drawn in another way meanwhile. */
  hide(id: string | undefined): void;
  showAll(): void;
  flyTo(centre: Position, zoom: number): void;
  showPlace(place: Place): void;
  /** Shows all positions at once. */
  showPositions(positions: readonly Position[]): void;
  /** Marks a position, such as that of an address; undefined: none. */
  mark(position: Position | undefined): void;
  remove(): void;
}

interface Options extends Omit<BaseOptions, 'onStyle'> {
  onStyle?(map: maplibregl.Map, shade: Theme): void;
  /** Takes a click before anything else does, and returns whether it was used. */
  onPress?(at: Position, point: maplibregl.Point): boolean;
  onClick?(place: PlaceName | undefined): void;
  /** `point` is in pixels of the map. */
  onHover?(hover: { readonly id: string; readonly x: number; readonly y: number } | undefined): void;
  onMove?(view: View): void;
}

const none: FeatureCollection = { type: 'FeatureCollection', features: [] };
/** All places, in the colours of their kinds. */
export const plainDisplay: Display = {
  colourBy: 'kind',
  colourOf: ({ kind }) => (kind === 'geofence' ? 0 : 1),
  isShown: () => true,
};
const clickable = ['shape-fill', 'point'];

/** Throws without WebGL. */
export function createMapView({ onStyle, onPress, onClick, onHover, onMove, ...options }: Options): MapView {
  let places: ReadonlyMap<string, Place> = new Map();
  let display = plainDisplay;
  let chosen: Place | undefined;
  let hidden: string | undefined;
  let marked: Position | undefined;
  const base = createBaseMap({
    ...options,
    onStyle(map, shade) {
      addLayers(shade);
      onStyle?.(map, shade);
    },
  });
  const { map } = base;
  const source = (id: string) => map.getSource<maplibregl.GeoJSONSource>(id);

  const propertiesOf = (place: Place) => ({
    id: place.id,
    colour: display.colourOf(place),
    enabled: place.enabled,
    beacon: place.kind === 'beacon',
  });
  const pointOf = (place: Place): Feature => ({
    type: 'Feature',
    id: place.id,
    geometry: { type: 'Point', coordinates: [...place.centre] },
    properties: propertiesOf(place),
  });
  const shapeOf = (place: Place): Feature => ({
    type: 'Feature',
    geometry: { type: 'Polygon', coordinates: [ringOfPlace(place).map((each) => [...each])] },
    properties: propertiesOf(place),
  });
  const points = (): FeatureCollection => ({
    type: 'FeatureCollection',
    features: [...places.values()].filter(display.isShown).map(pointOf),
  });

  /** Only shapes in sight are on the map, so that their number does not grow with the project. */
  function showShapes(): void {
    const shapes = source('shapes');
    if (shapes === undefined) return;
    if (map.getZoom() < shapesFromZoom) return void shapes.setData(none);
    const bounds = map.getBounds();
    const [width, height] = [bounds.getEast() - bounds.getWest(), bounds.getNorth() - bounds.getSouth()];
    // With what is around, so that a small move shows nothing new.
    const wide = [
      bounds.getWest() - width / 2,
      bounds.getSouth() - height / 2,
      bounds.getEast() + width / 2,
      bounds.getNorth() + height / 2,
    ] as const;
    const isShape = (place: Place) => place.kind === 'geofence' && display.isShown(place);
    const { within } = placesWithin(places.values(), wide, isShape, maxShapes);
    shapes.setData({ type: 'FeatureCollection', features: within.map(shapeOf) });
  }

  function chosenData(): FeatureCollection {
    if (chosen === undefined) return none;
    return { type: 'FeatureCollection', features: [chosen.kind === 'beacon' ? pointOf(chosen) : shapeOf(chosen)] };
  }
  const markData = (): FeatureCollection =>
    marked === undefined
      ? none
      : {
          type: 'FeatureCollection',
          features: [{ type: 'Feature', geometry: { type: 'Point', coordinates: [...marked] }, properties: {} }],
        };

  function colours(shade: Theme): maplibregl.ExpressionSpecification {
    const [first, ...rest] = palettes[display.colourBy][shade];
    const pairs = rest.flatMap((colour, index) => [index + 1, colour]);
    return ['match', ['get', 'colour'], ...pairs, first] as unknown as maplibregl.ExpressionSpecification;
  }

  function addLayers(shade: Theme): void {
    const accent = accents[shade];
    map.addSource('points', {
      type: 'geojson',
      data: points(),
      promoteId: 'id',
      cluster: true,
      clusterMaxZoom: shapesFromZoom - 1,
      clusterRadius: 46,
      clusterMinPoints: 4,
    });
    map.addSource('shapes', { type: 'geojson', data: none, buffer: 32, tolerance: 0.1 });
    map.addSource('chosen', { type: 'geojson', data: chosenData(), tolerance: 0.1 });
    map.addSource('marked', { type: 'geojson', data: markData() });
    const colour = colours(shade);
    const isEnabled: maplibregl.ExpressionSpecification = ['get', 'enabled'];
    map.addLayer({
      ...{ id: 'shape-fill', type: 'fill', source: 'shapes' },
      paint: { 'fill-color': colour, 'fill-opacity': ['case', isEnabled, 0.18, 0.05] },
    });
    map.addLayer({
      ...{ id: 'shape-line', type: 'line', source: 'shapes', filter: isEnabled },
      paint: { 'line-color': colour, 'line-width': 1.6 },
    });
    map.addLayer({
      ...{ id: 'shape-line-disabled', type: 'line', source: 'shapes', filter: ['!', isEnabled] },
      paint: { 'line-color': colour, 'line-width': 1.2, 'line-opacity': 0.75, 'line-dasharray': [3, 3] },
    });
    map.addLayer({
      ...{ id: 'point', type: 'circle', source: 'points', filter: ['!', ['has', 'point_count']] },
      paint: {
        'circle-color': ['case', isEnabled, colour, accent.halo],
        'circle-radius': ['case', ['get', 'beacon'], 5, 4],
        'circle-stroke-width': ['case', isEnabled, 1.5, 2],
        'circle-stroke-color': ['case', isEnabled, accent.halo, colour],
        // Where shapes are large enough, their centres only disturb.
        'circle-opacity': ['step', ['zoom'], 1, 14, ['case', ['get', 'beacon'], 1, 0]],
        'circle-stroke-opacity': ['step', ['zoom'], 1, 14, ['case', ['get', 'beacon'], 1, 0]],
      },
    });
    map.addLayer({
      ...{ id: 'cluster', type: 'circle', source: 'points', filter: ['has', 'point_count'] },
      paint: {
        'circle-color': accent.cluster,
        'circle-radius': ['step', ['get', 'point_count'], 13, 100, 16, 1_000, 20, 10_000, 25],
        'circle-stroke-width': 2,
        'circle-stroke-color': palettes.kind[shade][0],
      },
    });
    map.addLayer({
      ...{ id: 'cluster-count', type: 'symbol', source: 'points', filter: ['has', 'point_count'] },
      layout: {
        'text-field': ['get', 'point_count_abbreviated'],
        'text-font': ['Noto Sans Medium'],
        'text-size': 12,
        'text-allow-overlap': true,
      },
      paint: { 'text-color': accent.text },
    });
    map.addLayer({
      ...{ id: 'chosen-line', type: 'line', source: 'chosen' },
      paint: { 'line-color': accent.chosen, 'line-width': 3 },
    });
    map.addLayer({
      ...{ id: 'chosen-point', type: 'circle', source: 'chosen', filter: ['==', ['geometry-type'], 'Point'] },
      paint: {
        'circle-color': accent.chosen,
        'circle-radius': 7,
        'circle-stroke-width': 2,
        'circle-stroke-color': accent.halo,
      },
    });
    map.addLayer({
      ...{ id: 'marked', type: 'circle', source: 'marked' },
      paint: {
        'circle-color': accent.chosen,
        'circle-opacity': 0.25,
        'circle-radius': 10,
        'circle-stroke-width': 2,
        'circle-stroke-color': accent.chosen,
      },
    });
    applyHidden();
    showShapes();
  }

  function applyHidden(): void {
    if (!map.getLayer('point')) return;
    const isOther: maplibregl.ExpressionSpecification = ['!=', ['get', 'id'], hidden ?? ''];
    map.setFilter('shape-fill', isOther);
    map.setFilter('shape-line', ['all', isOther, ['get', 'enabled']]);
    map.setFilter('shape-line-disabled', ['all', isOther, ['!', ['get', 'enabled']]]);
    map.setFilter('point', ['all', isOther, ['!', ['has', 'point_count']]]);
    source('chosen')?.setData(hidden !== undefined && hidden === chosen?.id ? none : chosenData());
  }

  function placeAt({ x, y }: maplibregl.Point): string | undefined {
    const layers = clickable.filter((id) => map.getLayer(id));
    const around: [maplibregl.PointLike, maplibregl.PointLike] = [
      [x - 4, y - 4],
      [x + 4, y + 4],
    ];
    const features = map.queryRenderedFeatures(around, { layers });
    const ids = features.map(({ properties }) => properties.id as string);
    const found = ids.flatMap((id) => places.get(id) ?? []);
    // The smallest lies on top of the largest: a beacon in a geofence is meant itself.
    return found.sort((one, other) => one.reachM - other.reachM)[0]?.id;
  }

  function openCluster(point: maplibregl.Point): boolean {
    const [cluster] = map.getLayer('cluster') ? map.queryRenderedFeatures(point, { layers: ['cluster'] }) : [];
    if (cluster === undefined) return false;
    const { coordinates } = cluster.geometry as { readonly coordinates: unknown } as { coordinates: [number, number] };
    const opened = source('points')?.getClusterExpansionZoom(cluster.properties.cluster_id as number);
    // A cluster of a state that has passed meanwhile has no zoom.
    void opened?.then((zoom) => map.easeTo({ center: coordinates, zoom: zoom + 0.2 })).catch(() => {});
    return true;
  }

  map.on('click', ({ point, lngLat }) => {
    if (onPress?.([lngLat.lng, lngLat.lat], point)) return;
    const id = placeAt(point);
    const place = id === undefined ? undefined : places.get(id);
    if (place === undefined && openCluster(point)) return;
    onClick?.(place && { kind: place.kind, id: place.id });
  });
  map.on('mousemove', ({ point }) => {
    if (map.isMoving()) return;
    const id = placeAt(point);
    const isCluster =
      id === undefined &&
      map.getLayer('cluster') &&
      map.queryRenderedFeatures(point, { layers: ['cluster'] }).length > 0;
    map.getCanvas().classList.toggle('pointing', id !== undefined || isCluster === true);
    onHover?.(id === undefined ? undefined : { id, x: point.x, y: point.y });
  });
  map.on('mouseout', () => onHover?.(undefined));
  map.on('movestart', () => onHover?.(undefined));
  map.on('moveend', () => {
    showShapes();
    const { lng, lat } = map.getCenter();
    onMove?.({ centre: [lng, lat], zoom: map.getZoom() });
  });

  function showPositions(positions: readonly Position[]): void {
    const bounds = new maplibregl.LngLatBounds();
    for (const position of positions) bounds.extend([...position]);
    if (!bounds.isEmpty()) map.fitBounds(bounds, { padding: 80, maxZoom: 17, duration: 900 });
  }

  return {
    ...base,
    setPlaces(next, nextDisplay) {
      places = next;
      display = nextDisplay;
      if (!map.getLayer('point')) return;
      const colour = colours(base.shade());
      const { halo } = accents[base.shade()];
      map.setPaintProperty('shape-fill', 'fill-color', colour);
      map.setPaintProperty('shape-line', 'line-color', colour);
      map.setPaintProperty('shape-line-disabled', 'line-color', colour);
      map.setPaintProperty('point', 'circle-color', ['case', ['get', 'enabled'], colour, halo]);
      map.setPaintProperty('point', 'circle-stroke-color', ['case', ['get', 'enabled'], halo, colour]);
      source('points')?.setData(points());
      showShapes();
    },
    putPlaces(some) {
      const shown = some.filter(display.isShown);
      source('points')?.updateData({
        remove: some.filter((place) => !display.isShown(place)).map(({ id }) => id),
        add: shown.map(pointOf),
      });
      showShapes();
    },
    dropPlace(id) {
      source('points')?.updateData({ remove: [id] });
      showShapes();
    },
    choose(place) {
      chosen = place;
      applyHidden();
    },
    hide(id) {
      hidden = id;
      applyHidden();
    },
    showAll() {
      const bounds = new maplibregl.LngLatBounds();
      for (const { centre } of places.values()) bounds.extend([...centre]);
      if (!bounds.isEmpty()) map.fitBounds(bounds, { padding: 64, maxZoom: 15, duration: 0 });
    },
    flyTo: ([longitude, latitude], zoom) => map.flyTo({ center: [longitude, latitude], zoom, duration: 900 }),
    showPlace: (place) => showPositions(place.kind === 'beacon' ? [place.centre] : ringOfPlace(place)),
    showPositions,
    mark(position) {
      marked = position;
      source('marked')?.setData(markData());
    },
    remove: () => map.remove(),
  };
}
