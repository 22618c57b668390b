/** A map that draws collections of features by layers. It is loaded with MapLibre. */
import type { Feature, FeatureCollection, Position } from 'geojson';
import type * as maplibregl from 'maplibre-gl';
import { frameOf, unwrapped } from '../drawing/antimeridian';
import type { Bounds } from '../drawing/places';
import { addToStyle, boundsOf, createBaseMap, marginPx, nextTask } from './base-map';
import { createDots, type Dot } from './dots';
import { partsOf } from './feature-parts';
import type { MapStyle, Theme } from './map-look';

export { mapPictures } from './map-pictures';

/** The colours of things on the map. */
export const palettes = {
  light: {
    fence: '#0b6b66',
    beacon: '#8a4bb5',
    device: '#235a9c',
    inside: '#0b6b66',
    chosen: '#c2410c',
    quiet: '#536170',
    added: '#17683b',
    removed: '#b3261e',
    halo: '#ffffff',
  },
  dark: {
    fence: '#52c5ba',
    beacon: '#c79be8',
    device: '#8dbcf2',
    inside: '#52c5ba',
    chosen: '#fdba74',
    quiet: '#9badb9',
    added: '#7cd39c',
    removed: '#ff9a91',
    halo: '#0e1418',
  },
} as const;
/** The colours of what is drawn on a map. */
export type Palette = (typeof palettes)[Theme];
/** A layer of MapLibre that draws one source. */
export type Layer = maplibregl.AddLayerObject & { readonly id: string; readonly source: string };
export type LngLat = readonly [longitude: number, latitude: number];

const noFeatures: FeatureCollection = { type: 'FeatureCollection', features: [] };

/** A dot whose colour follows the style of the map. */
export interface MovingDot extends Omit<Dot, 'colour'> {
  readonly colour: keyof Palette;
}

/** What a page does with a map after it has started. */
export interface MapHandle {
  set(source: string, features: FeatureCollection): void;
  /** Puts points above the map that may move often. They are chosen before all layers. */
  setDots(dots: readonly MovingDot[]): void;
  flyTo(place: LngLat, zoom: number): void;
  /** Calls the listener with what is in sight, now and after each move. Returns what ends this. */
  watchSight(listener: (sight: Bounds) => void): () => void;
  /** Shows all of the positions. Does nothing without one. */
  fit(positions: Iterable<LngLat>, maxZoom?: number): void;
}

export interface DataMapProps {
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

/** Returns the feature without jumps over the antimeridian. */
function flat(feature: Feature): Feature {
  const { geometry } = feature;
  const unwrap = (line: Position[]) => unwrapped(line) as Position[];
  if (geometry.type === 'Polygon')
    return { ...feature, geometry: { ...geometry, coordinates: geometry.coordinates.map(unwrap) } };
  if (geometry.type === 'LineString')
    return { ...feature, geometry: { ...geometry, coordinates: unwrap(geometry.coordinates) } };
  return feature;
}

/** Throws without WebGL. `props` returns those of the last rendering. */
export function createLayeredMap(container: HTMLElement, style: MapStyle, props: () => DataMapProps) {
  const contents = new Map<string, FeatureCollection>();
  let moving: readonly MovingDot[] = [];
  const base = createBaseMap({
    container,
    style,
    onStyle(map, shade) {
      const { sources, layers } = props();
      const empty = { type: 'geojson', data: noFeatures, promoteId: 'id' } as const;
      addToStyle(map, Object.fromEntries(sources.map((name) => [name, empty])), layers(palettes[shade]));
      for (const name of contents.keys()) send(name).catch(() => {});
      paintDots();
    },
  });
  const { map } = base;
  const dots = createDots(map, () => palettes[base.shade()].halo);
  function paintDots(): void {
    const palette = palettes[base.shade()];
    dots.set(moving.map((dot) => ({ ...dot, colour: palette[dot.colour] })));
  }
  map.on('click', ({ point, lngLat }) => {
    const { clickable = [], onClick } = props();
    const dot = dots.at(point, reachPx);
    if (dot !== undefined) return onClick?.(dot, [lngLat.lng, lngLat.lat]);
    const layers = clickable.filter((id) => map.getLayer(id));
    const box: [maplibregl.PointLike, maplibregl.PointLike] = [
      [point.x - reachPx, point.y - reachPx],
      [point.x + reachPx, point.y + reachPx],
    ];
    const features = layers.length > 0 ? map.queryRenderedFeatures(box, { layers }) : [];
    const chosen = layers.map((id) => features.find(({ layer }) => layer.id === id)).find(Boolean);
    onClick?.(chosen?.properties.id as string | undefined, [lngLat.lng, lngLat.lat]);
  });
  map.on('mousemove', ({ point }) =>
    map.getCanvas().classList.toggle('above-dot', dots.at(point, reachPx) !== undefined),
  );
  for (const id of props().clickable ?? []) {
    map.on('mouseenter', id, () => map.getCanvas().classList.add('pointing'));
    map.on('mouseleave', id, () => map.getCanvas().classList.remove('pointing'));
  }
  let isGone = false;
  map.on('remove', () => {
    isGone = true;
  });
  const sent = new Map<string, symbol>();
  async function send(name: string): Promise<void> {
    const turn = Symbol();
    sent.set(name, turn);
    for (const [index, part] of partsOf(contents.get(name)?.features ?? []).entries()) {
      await nextTask();
      if (isGone || sent.get(name) !== turn) return;
      const source = map.getSource<maplibregl.GeoJSONSource>(name);
      if (index === 0) await source?.setData({ type: 'FeatureCollection', features: part });
      else await source?.updateData({ add: part });
    }
  }
  const handle: MapHandle = {
    set(source, features) {
      contents.set(source, { ...features, features: features.features.map(flat) });
      // Before the style is there, the data wait for it.
      if (base.hasStyle()) send(source).catch(() => {});
    },
    setDots(next) {
      moving = next;
      paintDots();
    },
    flyTo: ([longitude, latitude], zoom) =>
      map.flyTo({ center: [longitude, latitude], zoom: Math.max(zoom, map.getZoom()), duration: 700 }),
    watchSight(listener) {
      const tell = () => listener(boundsOf(map));
      tell();
      return map.on('moveend', tell).unsubscribe;
    },
    fit(positions, maxZoom = 16) {
      const frame = frameOf(positions);
      if (frame) map.fitBounds([...frame], { padding: marginPx(map, 56), maxZoom, duration: 0 });
    },
  };
  return { base, handle };
}
