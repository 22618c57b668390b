/** The shapes of places on a map: only those in sight, so that their number does not grow with the project. */
import type { FeatureCollection } from 'geojson';
import type * as maplibregl from 'maplibre-gl';
import { type Bounds, covers, type Place, type PlaceIndex, widened } from '../drawing/places';
import { boundsOf } from './base-map';
import { type Display, shapeOf } from './place-layers';

/**
 * Below this zoom near places are one. A city of a large project has thousands of them, which would neither be told
 * apart nor drawn smoothly.
 */
const shapesFromZoom = { few: 11, many: 13 };
const manyPlaces = 10_000;
/** More shapes in one view are points only. */
const maxShapes = 4_000;

const none: FeatureCollection = { type: 'FeatureCollection', features: [] };

/** Returns the zoom from which places have their shapes. */
export const firstZoomOf = ({ byId }: PlaceIndex): number => shapesFromZoom[byId.size < manyPlaces ? 'few' : 'many'];

interface ShapesInSight {
  /** Brings what is on the map up to date with the view. */
  show(places: PlaceIndex, display: Display): void;
  /** Looks through all places at the next time: some are other ones. */
  outdate(): void;
  /** Takes all shapes off the map. */
  clear(): void;
}

/** Keeps the shapes of source `shapes`, which each style begins without. */
export function createShapesInSight(map: maplibregl.Map): ShapesInSight {
  /** The shapes on the map, and the bounds of which they are all. */
  const shown = new Map<string, Place>();
  let complete: Bounds | undefined;
  const source = () => map.getSource<maplibregl.GeoJSONSource>('shapes');

  function clear(): void {
    complete = undefined;
    shown.clear();
    source()?.setData(none);
  }

  /** Sends those that come and go, because each position that is sent costs the page time. */
  function send(shapes: maplibregl.GeoJSONSource, within: readonly Place[], display: Display): void {
    const come = within.filter((place) => shown.get(place.id) !== place);
    const wanted = new Set(within.map(({ id }) => id));
    const gone = [...shown.keys()].filter((id) => !wanted.has(id));
    for (const place of come) shown.set(place.id, place);
    for (const id of gone) shown.delete(id);
    if (gone.length + come.length > 0)
      void shapes.updateData({ remove: gone, add: come.map((place) => shapeOf(place, display)) });
  }

  function show(places: PlaceIndex, display: Display): void {
    const shapes = source();
    if (shapes === undefined) return;
    if (map.getZoom() < firstZoomOf(places)) return void (shown.size > 0 && clear());
    const sight = boundsOf(map);
    if (complete && covers(complete, sight)) return;
    const wide = widened(sight);
    const isShape = (place: Place) => place.kind === 'geofence' && display.isShown(place);
    const { within, hasMore } = places.within(wide, isShape, maxShapes);
    complete = hasMore ? undefined : wide;
    send(shapes, within, display);
  }

  return {
    show,
    outdate() {
      complete = undefined;
    },
    clear,
  };
}
