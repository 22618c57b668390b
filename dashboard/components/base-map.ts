/** The map beneath all maps of the dashboard: this server's own styles and tiles. */
import * as maplibregl from 'maplibre-gl';
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url';
import 'maplibre-gl/dist/maplibre-gl.css';
import '../styles/map.css';
import { callHeaders } from '../client/call';
import { paceFrames } from './frame-pace';
import { type MapStyle, shadeOf, type Theme, type View } from './map-look';

maplibregl.setWorkerUrl(workerUrl);

/** A map without anything on it. Layers are added again with each style. */
export interface BaseMap {
  readonly map: maplibregl.Map;
  /** Of the present style. */
  shade(): Theme;
  /** Whether the layers of the page are on the map. */
  hasStyle(): boolean;
  /** @param before is called before another style replaces this one. */
  setStyle(style: MapStyle, before?: () => void): void;
}

export interface BaseOptions {
  readonly container: HTMLElement;
  readonly style: MapStyle;
  readonly view?: View | undefined;
  /** Adds the layers of the page: a style begins without them. */
  onStyle(map: maplibregl.Map, shade: Theme): void;
}

const retryMs = 3_000;

/** Adds layers and their sources to the style, in order. */
export function addToStyle(
  { style }: maplibregl.Map,
  sources: Readonly<Record<string, maplibregl.GeoJSONSourceSpecification>>,
  layers: readonly maplibregl.AddLayerObject[],
): void {
  // The compiler has checked them. MapLibre would copy the whole style for each check.
  const options = { validate: false };
  for (const [id, source] of Object.entries(sources)) style.addSource(id, source, options);
  for (const layer of layers) style.addLayer(layer, undefined, options);
}

/** Throws without WebGL. */
export function createBaseMap({ container, style: first, view, onStyle }: BaseOptions): BaseMap {
  let style = first;
  const urlOf = (name: MapStyle) => `/maps/styles/${name}`;
  const map: maplibregl.Map = new maplibregl.Map({
    container,
    style: urlOf(style),
    // The server's tests check its styles. Here the check is the longest part of a start.
    validateStyle: false,
    center: view ? [...view.centre] : [8, 40],
    zoom: view?.zoom ?? 1.5,
    attributionControl: { compact: true },
    // A label that fades in draws the whole map again and again. While it loads, that is most of the work.
    fadeDuration: 0,
    // Only this server gets the choice of the session.
    transformRequest: (url) =>
      url.startsWith(location.origin) || url.startsWith('/') ? { url, headers: callHeaders() } : { url },
  });
  paceFrames(map);
  // Measurements count its frames: bench/cases/dashboard-map.ts.
  Object.assign(container, { map });
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
    hasStyle: () => isLoaded,
    setStyle(next, before) {
      if (next === style) return;
      style = next;
      isLoaded = false;
      before?.();
      map.setStyle(urlOf(style), { diff: false });
    },
  };
}
