/** The sources and layers of places on a map: added to each style, and kept up to date with what is shown. */
import type { Feature, FeatureCollection } from 'geojson';
import type * as maplibregl from 'maplibre-gl';
import type { Place, PlaceIndex } from '../drawing/places';
import type { Position } from '../drawing/shape';
import { addToStyle } from './base-map';
import type { Theme } from './map-look';
import { coloursOf, type Display, filtersOf, layersOf, pointOf, shapeOf } from './place-layers';
import { createShapesInSight, firstZoomOf } from './shapes-in-sight';

/** What a map of places shows. A new style begins without it. */
export interface Shown {
  places: PlaceIndex;
  display: Display;
  /** The place that is marked. */
  chosen?: Place | undefined;
  /** Id of the place that is drawn in another way. */
  hidden?: string | undefined;
  /** A position that is marked, such as that of an address. */
  marked?: Position | undefined;
}

/** The geofences and beacons that a map draws. */
export interface PlacesOnMap {
  /** Adds all sources and layers to a new style. */
  add(shade: Theme): void;
  /** Takes over other places, or another way to show them. */
  replace(shade: Theme): void;
  /** Takes over places that are new, or in another state. */
  put(places: readonly Place[]): void;
  drop(id: string): void;
  /** Takes over what is chosen and what is hidden. */
  applyChoice(): void;
  applyMark(): void;
  /** Brings the shapes up to date with what the map has in sight. */
  showSight(): void;
}

const featuresOf = (features: Feature[]): FeatureCollection => ({ type: 'FeatureCollection', features });

const pointsOf = ({ places, display }: Shown): FeatureCollection =>
  featuresOf([...places.byId.values()].filter(display.isShown).map((place) => pointOf(place, display)));

function chosenOf({ chosen, hidden, display }: Shown): FeatureCollection {
  if (chosen === undefined || chosen.id === hidden) return featuresOf([]);
  return featuresOf([(chosen.kind === 'beacon' ? pointOf : shapeOf)(chosen, display)]);
}

const markOf = ({ marked }: Shown): FeatureCollection =>
  featuresOf(
    marked ? [{ type: 'Feature', geometry: { type: 'Point', coordinates: [...marked] }, properties: {} }] : [],
  );

const clusteringOf = (firstZoom: number) => ({ cluster: true, clusterMaxZoom: firstZoom - 1, clusterRadius: 46 });

const sourcesOf = (shown: Shown) =>
  ({
    points: {
      type: 'geojson',
      data: pointsOf(shown),
      promoteId: 'id',
      ...clusteringOf(firstZoomOf(shown.places)),
      clusterMinPoints: 4,
    },
    shapes: { type: 'geojson', data: featuresOf([]), promoteId: 'id', buffer: 32 },
    chosen: { type: 'geojson', data: chosenOf(shown), tolerance: 0.1 },
    marked: { type: 'geojson', data: markOf(shown) },
  }) as const;

/** Puts on the map what `shown` holds at each call. */
export function createPlacesOnMap(map: maplibregl.Map, shown: Shown): PlacesOnMap {
  const source = (id: keyof ReturnType<typeof sourcesOf>) => map.getSource<maplibregl.GeoJSONSource>(id);
  const hasLayers = () => map.getLayer('point') !== undefined;
  const shapes = createShapesInSight(map);
  const showSight = () => shapes.show(shown.places, shown.display);
  let clusteredBelow = 0;

  /** Moves the zoom until which places are clustered: it grows with their number. */
  function applyClustering(): void {
    const firstZoom = firstZoomOf(shown.places);
    if (clusteredBelow === firstZoom) return;
    clusteredBelow = firstZoom;
    void source('points')?.setClusterOptions(clusteringOf(firstZoom));
  }

  function applyColours(shade: Theme): void {
    for (const [layer, colours] of Object.entries(coloursOf(shown.display, shade))) {
      for (const [name, colour] of Object.entries(colours)) {
        map.setPaintProperty(layer, name as keyof maplibregl.AllPaintProperties, colour);
      }
    }
  }

  function redrawShapes(): void {
    shapes.clear();
    showSight();
  }

  return {
    add(shade) {
      addToStyle(map, sourcesOf(shown), layersOf(shown.display, shade, shown.hidden));
      clusteredBelow = firstZoomOf(shown.places);
      redrawShapes();
    },
    replace(shade) {
      if (!hasLayers()) return;
      applyColours(shade);
      source('points')?.setData(pointsOf(shown));
      applyClustering();
      redrawShapes();
    },
    put(places) {
      const { display } = shown;
      source('points')?.updateData({
        remove: places.filter((place) => !display.isShown(place)).map(({ id }) => id),
        add: places.filter(display.isShown).map((place) => pointOf(place, display)),
      });
      applyClustering();
      shapes.outdate();
      showSight();
    },
    drop(id) {
      source('points')?.updateData({ remove: [id] });
      shapes.outdate();
      showSight();
    },
    applyChoice() {
      if (!hasLayers()) return;
      for (const [layer, filter] of Object.entries(filtersOf(shown.hidden))) map.setFilter(layer, filter);
      source('chosen')?.setData(chosenOf(shown));
    },
    applyMark: () => void source('marked')?.setData(markOf(shown)),
    showSight,
  };
}
