/** A map with geofences and beacons on it. */
import type { FeatureCollection } from 'geojson';
import type * as maplibregl from 'maplibre-gl';
import { frameOf, frameOfOutline } from '../drawing/antimeridian';
import { type Place, PlaceIndex, ringOfPlace } from '../drawing/places';
import type { Position } from '../drawing/shape';
import { addToStyle, type BaseMap, type BaseOptions, createBaseMap } from './base-map';
import type { Theme, View } from './map-look';
import { coloursOf, type Display, filtersOf, layersOf, plainDisplay, pointOf, shapeOf } from './place-layers';
import { listenToPointer, type PointerListeners } from './place-pointer';
import { createShapesInSight, firstZoomOf } from './shapes-in-sight';

export { mapPictures } from './map-pictures';

/** Moves of the map to what is to be seen. */
interface Moves {
  showAll(): void;
  flyTo(centre: Position, zoom: number): void;
  showPlace(place: Place): void;
  /** Shows a line or ring with all of its edges. */
  showOutline(outline: readonly Position[]): void;
}

export interface MapView extends BaseMap, Moves {
  /** Shows all places in another way, or other places. */
  setPlaces(places: PlaceIndex, display: Display): void;
  /** Shows further places, or the same in another state. */
  putPlaces(places: readonly Place[]): void;
  dropPlace(id: string): void;
  /** Marks the place. */
  choose(place: Place | undefined): void;
  /** Hides the place, which is drawn in another way meanwhile. */
  hide(id: string | undefined): void;
  /** Marks a position, such as that of an address; undefined: none. */
  mark(position: Position | undefined): void;
  remove(): void;
}

interface Options extends Omit<BaseOptions, 'onStyle'>, PointerListeners {
  onStyle?(map: maplibregl.Map, shade: Theme): void;
  onMove?(view: View): void;
}

const none: FeatureCollection = { type: 'FeatureCollection', features: [] };

const moveMs = 900;

function movesOf(map: maplibregl.Map, places: () => PlaceIndex): Moves {
  function showOutline(outline: readonly Position[]): void {
    const frame = frameOfOutline(outline);
    if (frame) map.fitBounds([...frame], { padding: 80, maxZoom: 17, duration: moveMs });
  }
  return {
    showAll() {
      const frame = frameOf([...places().byId.values()].map(({ centre }) => centre));
      if (frame) map.fitBounds([...frame], { padding: 64, maxZoom: 15, duration: 0 });
    },
    flyTo: ([longitude, latitude], zoom) => map.flyTo({ center: [longitude, latitude], zoom, duration: moveMs }),
    showPlace: (place) => showOutline(place.kind === 'beacon' ? [place.centre] : ringOfPlace(place)),
    showOutline,
  };
}

/** Creates the map. Throws without WebGL. */
export function createMapView({ onStyle, onMove, ...options }: Options): MapView {
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

  const shapes = createShapesInSight(map);
  const firstZoom = () => firstZoomOf(places);
  const clusterOptions = () => ({ cluster: true, clusterMaxZoom: firstZoom() - 1, clusterRadius: 46 });
  let clusteredBelow = 0;
  function setClustering(): void {
    if (clusteredBelow === firstZoom()) return;
    clusteredBelow = firstZoom();
    void source('points')?.setClusterOptions(clusterOptions());
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
    shapes.clear();
    shapes.show(places, display);
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

  listenToPointer(map, () => places, options);
  map.on('moveend', () => {
    shapes.show(places, display);
    const { lng, lat } = map.getCenter();
    onMove?.({ centre: [lng, lat], zoom: map.getZoom() });
  });

  return {
    ...base,
    ...movesOf(map, () => places),
    setPlaces(next, nextDisplay) {
      places = next;
      display = nextDisplay;
      if (!map.getLayer('point')) return;
      applyColours();
      source('points')?.setData(points());
      setClustering();
      shapes.clear();
      shapes.show(places, display);
    },
    putPlaces(some) {
      source('points')?.updateData({
        remove: some.filter((place) => !display.isShown(place)).map(({ id }) => id),
        add: some.filter(display.isShown).map((place) => pointOf(place, display)),
      });
      setClustering();
      shapes.outdate();
      shapes.show(places, display);
    },
    dropPlace(id) {
      source('points')?.updateData({ remove: [id] });
      shapes.outdate();
      shapes.show(places, display);
    },
    choose(place) {
      chosen = place;
      applyHidden();
    },
    hide(id) {
      hidden = id;
      applyHidden();
    },
    mark(position) {
      marked = position;
      source('marked')?.setData(markData());
    },
    remove: () => map.remove(),
  };
}
