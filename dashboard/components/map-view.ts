/** A map with geofences and beacons on it. */
import type { FeatureCollection } from 'geojson';
import type * as maplibregl from 'maplibre-gl';
import { frameOf, frameOfOutline } from '../drawing/antimeridian';
import { type Bounds, type Place, PlaceIndex, type PlaceName, ringOfPlace } from '../drawing/places';
import type { Position } from '../drawing/shape';
import { addToStyle, type BaseMap, type BaseOptions, createBaseMap } from './base-map';
import type { Theme, View } from './map-look';
import { coloursOf, type Display, filtersOf, layersOf, plainDisplay, pointOf, shapeOf } from './place-layers';

export { mapPictures } from './map-pictures';

/**
 * Below this zoom near places are one. A city of a large project has thousands of them, which would neither be told
 * apart nor drawn smoothly.
 */
const shapesFromZoom = { few: 11, many: 13 };
const manyPlaces = 10_000;
/** More shapes in one view are points only. */
const maxShapes = 4_000;

export interface MapView extends BaseMap {
  /** Shows all places in another way, or other places. */
  setPlaces(places: PlaceIndex, display: Display): void;
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
  /** Shows a line or ring with all of its edges. */
  showOutline(outline: readonly Position[]): void;
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
const clickable = ['shape-fill', 'point'];
/** Throws without WebGL. */
export function createMapView({ onStyle, onPress, onClick, onHover, onMove, ...options }: Options): MapView {
  let places = new PlaceIndex();
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

  const points = (): FeatureCollection => ({
    type: 'FeatureCollection',
    features: [...places.byId.values()].filter(display.isShown).map((place) => pointOf(place, display)),
  });

  const firstZoom = (): number => shapesFromZoom[places.byId.size < manyPlaces ? 'few' : 'many'];
  const clusterOptions = () => ({ cluster: true, clusterMaxZoom: firstZoom() - 1, clusterRadius: 46 });
  let clusteredBelow = 0;
  function setClustering(): void {
    if (clusteredBelow === firstZoom()) return;
    clusteredBelow = firstZoom();
    void source('points')?.setClusterOptions(clusterOptions());
  }

  /** The shapes on the map, and the bounds of which they are all. */
  const shown = new Map<string, Place>();
  let complete: Bounds | undefined;

  function clearShapes(): void {
    complete = undefined;
    shown.clear();
    source('shapes')?.setData(none);
  }

  /**
   * Only shapes in sight are on the map, so that their number does not grow with the project. A move sends those that
   * come and go, because each position that is sent costs the page time.
   */
  function showShapes(): void {
    const shapes = source('shapes');
    if (shapes === undefined) return;
    if (map.getZoom() < firstZoom()) return void (shown.size > 0 && clearShapes());
    const bounds = map.getBounds();
    const [west, south, east, north] = [bounds.getWest(), bounds.getSouth(), bounds.getEast(), bounds.getNorth()];
    const [x, y] = [(east - west) / 2, (north - south) / 2];
    const isComplete =
      complete && west >= complete[0] && south >= complete[1] && east <= complete[2] && north <= complete[3];
    if (isComplete) return;
    // With what is around, so that a small move shows nothing new.
    const wide = [west - x, south - y, east + x, north + y] as const;
    const isShape = (place: Place) => place.kind === 'geofence' && display.isShown(place);
    const { within, hasMore } = places.within(wide, isShape, maxShapes);
    complete = hasMore ? undefined : wide;
    const come = within.filter((place) => shown.get(place.id) !== place);
    const wanted = new Set(within.map(({ id }) => id));
    const gone = [...shown.keys()].filter((id) => !wanted.has(id));
    for (const place of come) shown.set(place.id, place);
    for (const id of gone) shown.delete(id);
    if (gone.length + come.length > 0)
      void shapes.updateData({ remove: gone, add: come.map((place) => shapeOf(place, display)) });
  }

  function chosenData(): FeatureCollection {
    if (chosen === undefined || chosen.id === hidden) return none;
    return { type: 'FeatureCollection', features: [(chosen.kind === 'beacon' ? pointOf : shapeOf)(chosen, display)] };
  }
  const markData = (): FeatureCollection =>
    marked === undefined
      ? none
      : {
          type: 'FeatureCollection',
          features: [{ type: 'Feature', geometry: { type: 'Point', coordinates: [...marked] }, properties: {} }],
        };

  function addLayers(shade: Theme): void {
    const sources = {
      points: { type: 'geojson', data: points(), promoteId: 'id', ...clusterOptions(), clusterMinPoints: 4 },
      shapes: { type: 'geojson', data: none, promoteId: 'id', buffer: 32 },
      chosen: { type: 'geojson', data: chosenData(), tolerance: 0.1 },
      marked: { type: 'geojson', data: markData() },
    } as const;
    addToStyle(map, sources, layersOf(display, shade, hidden));
    clusteredBelow = firstZoom();
    clearShapes();
    showShapes();
  }

  function applyHidden(): void {
    if (!map.getLayer('point')) return;
    for (const [layer, filter] of Object.entries(filtersOf(hidden))) map.setFilter(layer, filter);
    source('chosen')?.setData(chosenData());
  }

  function applyColours(): void {
    for (const [layer, colours] of Object.entries(coloursOf(display, base.shade()))) {
      for (const [name, colour] of Object.entries(colours)) {
        map.setPaintProperty(layer, name as keyof maplibregl.AllPaintProperties, colour);
      }
    }
  }

  function placeAt({ x, y }: maplibregl.Point): string | undefined {
    const layers = clickable.filter((id) => map.getLayer(id));
    const around: [maplibregl.PointLike, maplibregl.PointLike] = [
      [x - 4, y - 4],
      [x + 4, y + 4],
    ];
    const features = map.queryRenderedFeatures(around, { layers });
    const ids = features.map(({ properties }) => properties.id as string);
    const found = ids.flatMap((id) => places.byId.get(id) ?? []);
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
    const place = id === undefined ? undefined : places.byId.get(id);
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

  function showOutline(outline: readonly Position[]): void {
    const frame = frameOfOutline(outline);
    if (frame) map.fitBounds([...frame], { padding: 80, maxZoom: 17, duration: 900 });
  }

  return {
    ...base,
    setPlaces(next, nextDisplay) {
      places = next;
      display = nextDisplay;
      if (!map.getLayer('point')) return;
      applyColours();
      source('points')?.setData(points());
      setClustering();
      clearShapes();
      showShapes();
    },
    putPlaces(some) {
      source('points')?.updateData({
        remove: some.filter((place) => !display.isShown(place)).map(({ id }) => id),
        add: some.filter(display.isShown).map((place) => pointOf(place, display)),
      });
      setClustering();
      complete = undefined;
      showShapes();
    },
    dropPlace(id) {
      source('points')?.updateData({ remove: [id] });
      complete = undefined;
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
      const frame = frameOf([...places.byId.values()].map(({ centre }) => centre));
      if (frame) map.fitBounds([...frame], { padding: 64, maxZoom: 15, duration: 0 });
    },
    flyTo: ([longitude, latitude], zoom) => map.flyTo({ center: [longitude, latitude], zoom, duration: 900 }),
    showPlace: (place) => showOutline(place.kind === 'beacon' ? [place.centre] : ringOfPlace(place)),
    showOutline,
    mark(position) {
      marked = position;
      source('marked')?.setData(markData());
    },
    remove: () => map.remove(),
  };
}
