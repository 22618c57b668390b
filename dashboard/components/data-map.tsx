/**
 * A map that draws what a view gives it: collections of features by name, and layers that show them. It has this
 * server's own style and tiles, follows the theme, and says so where the browser can not draw it.
 */
import type { FeatureCollection } from 'geojson';
import * as maplibregl from 'maplibre-gl';
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url';
import { useEffect, useRef, useState } from 'react';
import 'maplibre-gl/dist/maplibre-gl.css';
import { callHeaders } from '../client/call';
import { useTheme } from '../state/theme';
import { Notice } from './controls';

maplibregl.setWorkerUrl(workerUrl);

type Theme = 'light' | 'dark';
const styles: Record<Theme, string> = { light: '/maps/styles/svc-light-v1', dark: '/maps/styles/svc-dark-v1' };

/** The colours of things on the map. */
export const palettes = {
  light: {
    ...{ fence: '#0b6b66', device: '#235a9c', inside: '#0b6b66', chosen: '#c2410c', quiet: '#536170' },
    ...{ added: '#17683b', removed: '#b3261e', halo: '#ffffff' },
  },
  dark: {
    ...{ fence: '#52c5ba', device: '#8dbcf2', inside: '#52c5ba', chosen: '#fdba74', quiet: '#9badb9' },
    ...{ added: '#7cd39c', removed: '#ff9a91', halo: '#0e1418' },
  },
} as const;
export type Palette = (typeof palettes)[Theme];
export type Layer = maplibregl.AddLayerObject & { readonly id: string; readonly source: string };
export type LngLat = readonly [longitude: number, latitude: number];

export const noFeatures: FeatureCollection = { type: 'FeatureCollection', features: [] };

export interface MapHandle {
  set(source: string, features: FeatureCollection): void;
  flyTo(place: LngLat, zoom: number): void;
  /** Shows all of the positions. Does nothing without one. */
  fit(positions: Iterable<LngLat>, maxZoom?: number): void;
}

interface Props {
  readonly label: string;
  /** The names of the collections. */
  readonly sources: readonly string[];
  readonly layers: (palette: Palette) => readonly Layer[];
  /** Layers whose features may be chosen, the most important first. */
  readonly clickable?: readonly string[];
  readonly className?: string;
  /** Called when the map can be given features. */
  onReady(map: MapHandle): void;
  /** `id` is the property of the feature; undefined: nothing is there. */
  onClick?(id: string | undefined, at: LngLat): void;
}

const reachPx = 4;
const retryMs = 3_000;

function createMap(container: HTMLElement, first: Theme, props: () => Props) {
  let theme = first;
  const contents = new Map<string, FeatureCollection>();
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
  map.on('style.load', () => {
    const { sources, layers } = props();
    for (const name of sources) map.addSource(name, { type: 'geojson', data: contents.get(name) ?? noFeatures });
    for (const layer of layers(palettes[theme])) map.addLayer(layer);
  });
  // A server that has just started, or is busy, has no style yet.
  let retry: ReturnType<typeof setTimeout> | undefined;
  map.on('error', () => {
    if (map.isStyleLoaded() || retry !== undefined) return;
    retry = setTimeout(() => {
      retry = undefined;
      if (!map.style?.loaded()) map.setStyle(styles[theme]);
    }, retryMs);
  });
  map.on('click', ({ point, lngLat }) => {
    const { clickable = [], onClick } = props();
    const layers = clickable.filter((id) => map.getLayer(id));
    const box: [maplibregl.PointLike, maplibregl.PointLike] = [
      [point.x - reachPx, point.y - reachPx],
      [point.x + reachPx, point.y + reachPx],
    ];
    const features = layers.length > 0 ? map.queryRenderedFeatures(box, { layers }) : [];
    const chosen = layers.map((id) => features.find(({ layer }) => layer.id === id)).find(Boolean);
    onClick?.(chosen?.properties.id as string | undefined, [lngLat.lng, lngLat.lat]);
  });
  for (const id of props().clickable ?? []) {
    map.on('mouseenter', id, () => map.getCanvas().classList.add('pointing'));
    map.on('mouseleave', id, () => map.getCanvas().classList.remove('pointing'));
  }
  const handle: MapHandle = {
    set(source, features) {
      contents.set(source, features);
      map.getSource<maplibregl.GeoJSONSource>(source)?.setData(features);
    },
    flyTo: ([longitude, latitude], zoom) =>
      map.flyTo({ center: [longitude, latitude], zoom: Math.max(zoom, map.getZoom()), duration: 700 }),
    fit(positions, maxZoom = 16) {
      const bounds = new maplibregl.LngLatBounds();
      for (const [longitude, latitude] of positions) bounds.extend([longitude, latitude]);
      if (!bounds.isEmpty()) map.fitBounds(bounds, { padding: 56, maxZoom, duration: 0 });
    },
  };
  return {
    handle,
    setTheme(next: Theme) {
      if (next === theme) return;
      theme = next;
      map.setStyle(styles[theme]);
    },
    remove() {
      clearTimeout(retry);
      map.remove();
    },
  };
}

export function DataMap(props: Props) {
  const theme = useTheme();
  const container = useRef<HTMLDivElement>(null);
  const created = useRef<ReturnType<typeof createMap>>(null);
  const latest = useRef(props);
  latest.current = props;
  const [hasFailed, setFailed] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the theme goes to the map that is there
  useEffect(() => {
    try {
      created.current = createMap(container.current!, theme, () => latest.current);
      latest.current.onReady(created.current.handle);
    } catch {
      setFailed(true);
    }
    return () => {
      created.current?.remove();
      created.current = null;
    };
  }, []);
  useEffect(() => created.current?.setTheme(theme), [theme]);
  return (
    <section className={`map-frame ${props.className ?? ''}`} aria-label={props.label}>
      <div className="map-canvas" ref={container} />
      {hasFailed && (
        <div className="map-failed">
          <Notice tone="warning">This browser can not draw the map: it has no WebGL. The lists work without it.</Notice>
        </div>
      )}
    </section>
  );
}
