/** The map beneath all maps of the dashboard: this server's own styles and tiles. */
import * as maplibregl from 'maplibre-gl';
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url';
import 'maplibre-gl/dist/maplibre-gl.css';
import '../styles/map.css';
import { callHeaders } from '../client/call';
import type { Bounds } from '../drawing/places';
import { paceFrames } from './frame-pace';
import { serverAddress, withGroundLayer } from './map-ground';
import { type MapStyle, shadeOf, type Theme, type View } from './map-look';
import { readStyle, StyleNotLoaded } from './map-start';

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
/** A start in longer tasks would hold up the page. */
const taskMs = 5;

/** Lets the page answer its user, and draw. */
export const nextTask = () => new Promise<void>((resolve) => setTimeout(resolve));

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

/** Returns what the map has in sight. */
export function boundsOf(map: maplibregl.Map): Bounds {
  const bounds = map.getBounds();
  return [bounds.getWest(), bounds.getSouth(), bounds.getEast(), bounds.getNorth()];
}

/** Returns the margin around what is brought into sight. MapLibre goes nowhere if it is higher than a low window. */
export function marginPx(map: maplibregl.Map, wantedPx: number): number {
  const { clientWidth, clientHeight } = map.getContainer();
  return Math.min(wantedPx, clientWidth / 4, clientHeight / 4);
}

/** Lets Enter and Space click where the cross is, in the middle of the map, unless the page uses the key otherwise. */
function clickByKeys(map: maplibregl.Map): void {
  const canvas = map.getCanvas();
  // The page listens to keys of the document, which comes before the window.
  const listen = (event: KeyboardEvent) => {
    if (event.target !== canvas || event.defaultPrevented || (event.key !== 'Enter' && event.key !== ' ')) return;
    event.preventDefault();
    const { left, top, width, height } = canvas.getBoundingClientRect();
    const middle = new MouseEvent('click', { clientX: left + width / 2, clientY: top + height / 2 });
    map.fire(new maplibregl.MapMouseEvent('click', map, middle));
  };
  addEventListener('keydown', listen);
  map.on('remove', () => removeEventListener('keydown', listen));
}

/** Puts a line on the map for what the server says instead of a style. Returns what shows it; undefined: nothing. */
function addNotice(container: HTMLElement): (reason: string | undefined) => void {
  const notice = document.createElement('p');
  notice.className = 'map-missing notice warning';
  notice.setAttribute('role', 'status');
  container.append(notice);
  return (reason) => {
    notice.textContent = reason === undefined ? '' : `There is no map yet. The server says: ${reason}.`;
  };
}

/** Throws without WebGL. */
export function createBaseMap({ container, style: first, view, onStyle }: BaseOptions): BaseMap {
  let style = first;
  const map: maplibregl.Map = new maplibregl.Map({
    container,
    // The server's tests check its styles. Here the check would be the longest part of a start.
    validateStyle: false,
    center: view ? [...view.centre] : [8, 40],
    zoom: view?.zoom ?? 1.5,
    attributionControl: false,
    // A label that fades in draws the whole map again and again. While it loads, that is most of the work.
    fadeDuration: 0,
    // Only this server gets the choice of the session.
    transformRequest(url) {
      const address = serverAddress(url);
      const isOwn = address.startsWith(location.origin) || address.startsWith('/');
      return isOwn ? { url, headers: callHeaders() } : { url };
    },
  });
  const frames = paceFrames(map);
  // Measurements count its frames: bench/cases/dashboard-map.ts.
  Object.assign(container, { map });
  // Assistive software waits until all that is known is drawn.
  const setBusy = (isBusy: boolean) => container.setAttribute('aria-busy', `${isBusy}`);
  setBusy(true);
  map.on('dataloading', () => setBusy(true));
  map.on('movestart', () => setBusy(true));
  map.on('idle', () => setBusy(false));
  // Without a listener, MapLibre writes each tile that fails to the console. The page says that the server is away.
  map.on('error', () => {});
  clickByKeys(map);
  const sayProblem = addNotice(container);
  let isLoaded = false;
  /** Ends what is loaded for another style, or for a map that is gone. */
  let loading = new AbortController();
  map.on('remove', () => loading.abort());

  function addControls(): void {
    map.addControl(new maplibregl.AttributionControl({ compact: true }), 'bottom-right');
    map.addControl(new maplibregl.NavigationControl({ visualizePitch: false }), 'bottom-right');
    map.addControl(new maplibregl.ScaleControl({}), 'bottom-left');
  }

  /** Resolves when the style is on the map with all layers. Each step is a task of its own. */
  async function load({ signal }: AbortController): Promise<void> {
    const { layers, ...frame } = withGroundLayer(await readStyle(style, signal), shadeOf(style));
    await nextTask();
    if (signal.aborted) return;
    map.setStyle({ ...frame, layers: [] }, { diff: false });
    await map.once('style.load');
    frames.hold();
    // The first frame prepares what all frames need. It is empty, and the next one has all layers.
    await map.once('render');
    for (let next = 0; next < layers.length; ) {
      await nextTask();
      if (signal.aborted) return;
      const endMs = performance.now() + taskMs;
      do addToStyle(map, {}, [layers[next++]!]);
      while (next < layers.length && performance.now() < endMs);
    }
    await nextTask();
    if (signal.aborted) return;
    isLoaded = true;
    onStyle(map, shadeOf(style));
    frames.release();
  }

  async function start(): Promise<void> {
    loading.abort();
    loading = new AbortController();
    const { signal } = loading;
    isLoaded = false;
    while (!isLoaded && !signal.aborted) {
      try {
        await load(loading);
        sayProblem(undefined);
      } catch (error) {
        if (!(error instanceof StyleNotLoaded)) throw error;
        if (!signal.aborted) sayProblem(error.reason);
        // Assistive software reads nothing of a busy map.
        setBusy(false);
        // A server that has just started may not have a map yet.
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
  }
  void start()
    .then(nextTask)
    .then(() => !loading.signal.aborted && addControls());
  return {
    map,
    shade: () => shadeOf(style),
    hasStyle: () => isLoaded,
    setStyle(next, before) {
      if (next === style) return;
      style = next;
      before?.();
      void start();
    },
  };
}
