/** A map with geofences and beacons on it. */
import type * as maplibregl from 'maplibre-gl';
import { frameOf, frameOfOutline } from '../drawing/antimeridian';
import { type Place, PlaceIndex, ringOfPlace } from '../drawing/places';
import type { Position } from '../drawing/shape';
import { type BaseMap, type BaseOptions, createBaseMap, marginPx } from './base-map';
import type { Theme, View } from './map-look';
import { type Display, plainDisplay } from './place-layers';
import { listenToPointer, type PointerListeners } from './place-pointer';
import { createPlacesOnMap, type PlacesOnMap, type Shown } from './places-on-map';

export { mapPictures } from './map-pictures';

/** Moves of the map to what is to be seen. */
interface Moves {
  showAll(): void;
  flyTo(centre: Position, zoom: number): void;
  showPlace(place: Place): void;
  /** Shows a line or ring with all of its edges. */
  showOutline(outline: readonly Position[]): void;
}

/** Changes of what the map shows. */
interface Changes {
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
}

export interface MapView extends BaseMap, Moves, Changes {
  remove(): void;
}

interface Options extends Omit<BaseOptions, 'onStyle'>, PointerListeners {
  onStyle?(map: maplibregl.Map, shade: Theme): void;
  onMove?(view: View): void;
}

const moveMs = 900;

function movesOf(map: maplibregl.Map, shown: Shown): Moves {
  function showOutline(outline: readonly Position[]): void {
    const frame = frameOfOutline(outline);
    if (frame) map.fitBounds([...frame], { padding: marginPx(map, 80), maxZoom: 17, duration: moveMs });
  }
  return {
    showAll() {
      const frame = frameOf([...shown.places.byId.values()].map(({ centre }) => centre));
      if (frame) map.fitBounds([...frame], { padding: marginPx(map, 64), maxZoom: 15, duration: 0 });
    },
    flyTo: ([longitude, latitude], zoom) => map.flyTo({ center: [longitude, latitude], zoom, duration: moveMs }),
    showPlace: (place) => showOutline(place.kind === 'beacon' ? [place.centre] : ringOfPlace(place)),
    showOutline,
  };
}

const changesOf = (shown: Shown, onMap: PlacesOnMap, { shade }: BaseMap): Changes => ({
  setPlaces(places, display) {
    shown.places = places;
    shown.display = display;
    onMap.replace(shade());
  },
  putPlaces: onMap.put,
  dropPlace: onMap.drop,
  choose(place) {
    shown.chosen = place;
    onMap.applyChoice();
  },
  hide(id) {
    shown.hidden = id;
    onMap.applyChoice();
  },
  mark(position) {
    shown.marked = position;
    onMap.applyMark();
  },
});

/** Creates the map. Throws without WebGL. */
export function createMapView({ onStyle, onMove, ...options }: Options): MapView {
  const shown: Shown = { places: new PlaceIndex(), display: plainDisplay };
  const base = createBaseMap({
    ...options,
    onStyle(map, shade) {
      onMap.add(shade);
      onStyle?.(map, shade);
    },
  });
  const { map } = base;
  const onMap = createPlacesOnMap(map, shown);
  listenToPointer(map, () => shown.places, options);
  map.on('moveend', () => {
    onMap.showSight();
    const { lng, lat } = map.getCenter();
    onMove?.({ centre: [lng, lat], zoom: map.getZoom() });
  });
  return {
    ...base,
    ...movesOf(map, shown),
    ...changesOf(shown, onMap, base),
    remove: () => map.remove(),
  };
}
