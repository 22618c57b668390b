/** The map of a page: our own style and tiles, with geofences and beacons on it. */
import type { Feature, FeatureCollection } from 'geojson';
import * as maplibregl from 'maplibre-gl';
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url';
import 'maplibre-gl/dist/maplibre-gl.css';
import { callHeaders } from '../client/call';
import type { Beacon, Geofence } from '../client/types';

maplibregl.setWorkerUrl(workerUrl);

type Theme = 'light' | 'dark';
export type Place =
  | { readonly kind: 'geofence'; readonly id: string }
  | { readonly kind: 'beacon'; readonly id: string };

const styles: Record<Theme, string> = { light: '/maps/styles/svc-light-v1', dark: '/maps/styles/svc-dark-v1' };
const colours = {
  light: { fence: '#0b6b66', disabled: '#6b7884', beacon: '#8a4bb5', chosen: '#c2410c' },
  dark: { fence: '#52c5ba', disabled: '#8496a3', beacon: '#c79be8', chosen: '#fdba74' },
} as const;

const fencesOf = (geofences: readonly Geofence[]): FeatureCollection => ({
  type: 'FeatureCollection',
  features: geofences.flatMap(({ _id, geometry, enabled }) =>
    geometry ? [{ type: 'Feature', geometry, properties: { id: _id, enabled } } satisfies Feature] : [],
  ),
});
const centresOf = (geofences: readonly Geofence[]): FeatureCollection => ({
  type: 'FeatureCollection',
  features: geofences.map(({ _id, geometryCenter, enabled }) => ({
    type: 'Feature',
    geometry: geometryCenter,
    properties: { id: _id, enabled },
  })),
});
const pointsOf = (beacons: readonly Beacon[]): FeatureCollection => ({
  type: 'FeatureCollection',
  features: beacons.flatMap(({ _id, geometry, enabled = true }) =>
    geometry ? [{ type: 'Feature', geometry, properties: { id: _id, enabled } } satisfies Feature] : [],
  ),
});

/** Below this zoom a geofence is smaller than a point. */
const shapesFromZoom = 11;
const clickable = ['fence-fill', 'fence-centre', 'beacon'];

export interface MapView {
  setTheme(theme: Theme): void;
  setPlaces(geofences: readonly Geofence[], beacons: readonly Beacon[]): void;
  /** Marks the place. */
  choose(place: Place | undefined): void;
  showAll(): void;
  flyTo(longitude: number, latitude: number, zoom: number): void;
  remove(): void;
}

interface Options {
  readonly container: HTMLElement;
  readonly theme: Theme;
  onChoose(place: Place | undefined): void;
}

/** Throws without WebGL. */
export function createMapView({ container, theme: first, onChoose }: Options): MapView {
  let theme = first;
  let geofences: readonly Geofence[] = [];
  let beacons: readonly Beacon[] = [];
  let chosen: Place | undefined;
  const map: maplibregl.Map = new maplibregl.Map({
    container,
    style: styles[theme],
    center: [8, 40],
    zoom: 1.5,
    attributionControl: { compact: true },
    // Only this server gets the choice of the session.
    transformRequest: (url) =>
      url.startsWith(location.origin) || url.startsWith('/') ? { url, headers: callHeaders() } : { url },
  });
  map.addControl(new maplibregl.NavigationControl({ visualizePitch: false }), 'bottom-right');
  map.addControl(new maplibregl.ScaleControl({}), 'bottom-left');

  const data = () => ({ fences: fencesOf(geofences), centres: centresOf(geofences), beacons: pointsOf(beacons) });

  function addLayers(): void {
    const colour = colours[theme];
    for (const [id, content] of Object.entries(data())) map.addSource(id, { type: 'geojson', data: content });
    const byState: maplibregl.ExpressionSpecification = ['case', ['get', 'enabled'], colour.fence, colour.disabled];
    map.addLayer({
      ...{ id: 'fence-fill', type: 'fill', source: 'fences', minzoom: shapesFromZoom },
      paint: { 'fill-color': byState, 'fill-opacity': 0.16 },
    });
    map.addLayer({
      ...{ id: 'fence-line', type: 'line', source: 'fences', minzoom: shapesFromZoom },
      paint: { 'line-color': byState, 'line-width': 1.5 },
    });
    map.addLayer({
      ...{ id: 'fence-centre', type: 'circle', source: 'centres', maxzoom: shapesFromZoom },
      paint: {
        'circle-color': byState,
        'circle-radius': ['interpolate', ['linear'], ['zoom'], 2, 2, 11, 5],
        'circle-opacity': 0.8,
      },
    });
    map.addLayer({
      ...{ id: 'beacon', type: 'circle', source: 'beacons' },
      paint: {
        'circle-color': colour.beacon,
        'circle-radius': 4,
        'circle-stroke-width': 1.5,
        'circle-stroke-color': '#fff',
      },
    });
    map.addLayer({
      ...{ id: 'chosen-line', type: 'line', source: 'fences' },
      paint: { 'line-color': colour.chosen, 'line-width': 3 },
    });
    map.addLayer({
      ...{ id: 'chosen-point', type: 'circle', source: 'beacons' },
      paint: { 'circle-color': colour.chosen, 'circle-radius': 6 },
    });
    mark();
  }

  function mark(): void {
    if (!map.getLayer('chosen-line')) return;
    map.setFilter('chosen-line', ['==', ['get', 'id'], chosen?.kind === 'geofence' ? chosen.id : '']);
    map.setFilter('chosen-point', ['==', ['get', 'id'], chosen?.kind === 'beacon' ? chosen.id : '']);
  }

  map.on('style.load', addLayers);
  map.on('click', ({ point }) => {
    const layers = clickable.filter((id) => map.getLayer(id));
    const features = map.queryRenderedFeatures(
      [
        [point.x - 3, point.y - 3],
        [point.x + 3, point.y + 3],
      ],
      { layers },
    );
    // The smallest things lie on top of the largest: a beacon in a geofence is meant itself.
    const feature = features.find(({ layer }) => layer.id === 'beacon') ?? features[0];
    const id = feature?.properties.id as string | undefined;
    onChoose(id === undefined ? undefined : { kind: feature?.layer.id === 'beacon' ? 'beacon' : 'geofence', id });
  });
  for (const id of clickable) {
    map.on('mouseenter', id, () => map.getCanvas().classList.add('pointing'));
    map.on('mouseleave', id, () => map.getCanvas().classList.remove('pointing'));
  }

  return {
    setTheme(next) {
      if (next === theme) return;
      theme = next;
      map.setStyle(styles[theme]);
    },
    setPlaces(nextGeofences, nextBeacons) {
      geofences = nextGeofences;
      beacons = nextBeacons;
      for (const [id, content] of Object.entries(data())) map.getSource<maplibregl.GeoJSONSource>(id)?.setData(content);
    },
    choose(place) {
      chosen = place;
      mark();
    },
    showAll() {
      const bounds = new maplibregl.LngLatBounds();
      for (const { geometryCenter } of geofences) bounds.extend(geometryCenter.coordinates);
      for (const { geometry } of beacons) if (geometry) bounds.extend(geometry.coordinates);
      if (!bounds.isEmpty()) map.fitBounds(bounds, { padding: 48, maxZoom: 15, duration: 0 });
    },
    flyTo: (longitude, latitude, zoom) => map.flyTo({ center: [longitude, latitude], zoom, duration: 900 }),
    remove: () => map.remove(),
  };
}
