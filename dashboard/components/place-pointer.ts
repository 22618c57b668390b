/** What the pointer does on a map of places: it finds the place or the cluster beneath it. */
import type * as maplibregl from 'maplibre-gl';
import type { PlaceIndex, PlaceName } from '../drawing/places';
import type { Position } from '../drawing/shape';

const clickable = ['shape-fill', 'point'];
/** A pointer that is this near means the place. */
const reachPx = 4;

/** What a page learns about the pointer on a map. */
export interface PointerListeners {
  /** Takes a click before anything else does, and returns whether it was used. */
  onPress?(at: Position, point: maplibregl.Point): boolean;
  onClick?(place: PlaceName | undefined): void;
  /** `point` is in pixels of the map. */
  onHover?(hover: { readonly id: string; readonly x: number; readonly y: number } | undefined): void;
}

function placeAt(map: maplibregl.Map, places: PlaceIndex, { x, y }: maplibregl.Point) {
  const layers = clickable.filter((id) => map.getLayer(id));
  const around: [maplibregl.PointLike, maplibregl.PointLike] = [
    [x - reachPx, y - reachPx],
    [x + reachPx, y + reachPx],
  ];
  const features = map.queryRenderedFeatures(around, { layers });
  const ids = features.map(({ properties }) => properties.id as string);
  const found = ids.flatMap((id) => places.byId.get(id) ?? []);
  // The smallest lies on top of the largest: a beacon in a geofence is meant itself.
  return found.sort((one, other) => one.reachM - other.reachM)[0];
}

const clusterAt = (map: maplibregl.Map, point: maplibregl.Point) =>
  map.getLayer('cluster') ? map.queryRenderedFeatures(point, { layers: ['cluster'] })[0] : undefined;

function openCluster(map: maplibregl.Map, cluster: maplibregl.MapGeoJSONFeature): void {
  const { coordinates } = cluster.geometry as { readonly coordinates: unknown } as { coordinates: [number, number] };
  const points = map.getSource<maplibregl.GeoJSONSource>('points');
  const opened = points?.getClusterExpansionZoom(cluster.properties.cluster_id as number);
  // A cluster of a state that has passed meanwhile has no zoom.
  void opened?.then((zoom) => map.easeTo({ center: coordinates, zoom: zoom + 0.2 })).catch(() => {});
}

/** Tells the listeners what is pressed and pointed at. A press on a cluster opens it. */
export function listenToPointer(
  map: maplibregl.Map,
  places: () => PlaceIndex,
  { onPress, onClick, onHover }: PointerListeners,
): void {
  map.on('click', ({ point, lngLat }) => {
    if (onPress?.([lngLat.lng, lngLat.lat], point)) return;
    const place = placeAt(map, places(), point);
    const cluster = place === undefined ? clusterAt(map, point) : undefined;
    if (cluster) openCluster(map, cluster);
    else onClick?.(place && { kind: place.kind, id: place.id });
  });
  map.on('mousemove', ({ point }) => {
    if (map.isMoving()) return;
    const place = placeAt(map, places(), point);
    const isPointing = place !== undefined || clusterAt(map, point) !== undefined;
    map.getCanvas().classList.toggle('pointing', isPointing);
    onHover?.(place && { id: place.id, x: point.x, y: point.y });
  });
  map.on('mouseout', () => onHover?.(undefined));
  map.on('movestart', () => onHover?.(undefined));
}
