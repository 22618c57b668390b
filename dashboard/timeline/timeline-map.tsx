/** The path of a user on a map, with the accuracy of each location and the geofences near it. */
import { useQueries } from '@tanstack/react-query';
import type { Feature, Position } from 'geojson';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Geofence, UserLocation } from '../../client/types';
import { type Answer, call } from '../client/call';
import { collectionOf, DataMap, type Layer, type LngLat, type MapHandle, type Palette } from '../components/data-map';
import { circleRing } from '../forms/geofence';
import { useScope } from '../state/session';
import { sightOf } from './sight';
import { pathsOf } from './timeline';

const circleOf = (each: UserLocation): Position[] =>
  circleRing(positionOf(each), Math.max(1, each.locationAccuracy)).map(([x, y]) => [x, y]);
const positionOf = ({ location }: UserLocation): [number, number] => [location.coordinates[0], location.coordinates[1]];

const sources = ['fences', 'accuracy', 'path', 'points'] as const;

const byZoom = ['interpolate', ['linear'], ['zoom']];
/** Radius, and rank, of the chosen location and of those with events: they are seen among thousands of others. */
const ofNote = [['get', 'chosen'], 7, ['!=', ['get', 'mark'], 'none'], 5.5];
const isQuiet = ['all', ['!', ['get', 'chosen']], ['==', ['get', 'mark'], 'none']];

const mapLayers = ({ fence, device, chosen, halo, added, removed }: Palette): readonly Layer[] => [
  { id: 'fence-fill', type: 'fill', source: 'fences', paint: { 'fill-color': fence, 'fill-opacity': 0.05 } },
  { id: 'fence-line', type: 'line', source: 'fences', paint: { 'line-color': fence, 'line-width': 1.5 } },
  { id: 'accuracy-fill', type: 'fill', source: 'accuracy', paint: { 'fill-color': device, 'fill-opacity': 0.08 } },
  {
    id: 'accuracy-chosen',
    type: 'line',
    source: 'accuracy',
    filter: ['get', 'chosen'],
    paint: { 'line-color': chosen, 'line-width': 1.5 },
  },
  {
    id: 'path',
    type: 'line',
    source: 'path',
    layout: { 'line-join': 'round' },
    paint: { 'line-color': device, 'line-width': 2, 'line-opacity': 0.7 },
  },
  {
    id: 'point',
    type: 'circle',
    source: 'points',
    layout: { 'circle-sort-key': ['case', ...ofNote, 0] as never },
    paint: {
      'circle-color': [
        ...['case', ['get', 'chosen'], chosen, ['==', ['get', 'mark'], 'entered'], added],
        ...[['==', ['get', 'mark'], 'left'], removed, device],
      ] as never,
      'circle-radius': [...byZoom, 11, ['case', ...ofNote, 1.5], 15, ['case', ...ofNote, 3.5]] as never,
      'circle-stroke-width': [...byZoom, 11, ['case', isQuiet, 0, 1.5], 15, ['case', isQuiet, 1, 1.5]] as never,
      'circle-stroke-color': halo,
    },
  },
];

/** Circles of more locations would only cover each other. */
const maxCircles = 400;
const maxFences = 16;

export interface TimelineMapProps {
  readonly locations: readonly UserLocation[];
  /** What kind of event each location caused first, by its `_id`. */
  readonly marks: ReadonlyMap<string, string>;
  readonly chosen: UserLocation | undefined;
  readonly explained: Answer<'GET /v1/users/{id}/locations/{locationId}/explanation'> | undefined;
  onChoose(id: string | undefined): void;
}

/** Loads the shapes of the geofences that an explanation names. */
function useShapes(ids: readonly string[]): readonly Geofence[] {
  const scope = useScope();
  return useQueries({
    queries: ids.map((id) => ({
      queryKey: [scope, 'geofences', 'shape', id],
      queryFn: ({ signal }: { signal: AbortSignal }) => call('GET /v1/geofences/{id}', { path: { id }, signal }),
      staleTime: 60_000,
      retry: false,
    })),
    combine: (results) => results.flatMap(({ data }) => (data ? [data.geofence] : [])),
  });
}

export function TimelineMap({ locations, marks, chosen, explained, onChoose }: TimelineMapProps) {
  const [map, setMap] = useState<MapHandle>();
  const visited = useMemo(() => [...new Set(locations.flatMap(({ geofences }) => geofences))], [locations]);
  const ids = useMemo(() => {
    const near = explained?.explanation.fences.map(({ _id }) => _id) ?? [];
    return [...new Set([...near, ...visited])].slice(0, maxFences);
  }, [explained, visited]);
  const shapes = useShapes(ids);

  useEffect(() => {
    const features = shapes.flatMap(({ _id, geometry }): Feature[] =>
      geometry ? [{ type: 'Feature', geometry, properties: { id: _id } }] : [],
    );
    map?.set('fences', collectionOf(features));
  }, [map, shapes]);
  useEffect(() => {
    if (map === undefined) return;
    const circled = [...locations.slice(0, maxCircles), ...(chosen ? [chosen] : [])];
    map.set(
      'accuracy',
      collectionOf(
        circled.map((each) => ({
          type: 'Feature',
          geometry: {
            type: 'Polygon',
            coordinates: [circleOf(each)],
          },
          properties: { chosen: each._id === chosen?._id },
        })),
      ),
    );
    map.set(
      'path',
      collectionOf(
        pathsOf(locations)
          .filter(({ length }) => length > 1)
          .map((path) => ({
            type: 'Feature',
            geometry: { type: 'LineString', coordinates: path.map(positionOf) },
            properties: {},
          })),
      ),
    );
    map.set(
      'points',
      collectionOf(
        locations.toReversed().map((each) => ({
          type: 'Feature',
          geometry: { type: 'Point', coordinates: positionOf(each) },
          properties: {
            id: each._id,
            chosen: each._id === chosen?._id,
            mark: marks.get(each._id) ?? 'none',
          },
        })),
      ),
    );
  }, [map, locations, marks, chosen]);
  /** The locations, and then the geofences that were visited, whose shapes come later. */
  const sight = useMemo(() => {
    const positions = locations.map((each): LngLat => positionOf(each));
    const outlines = shapes.flatMap(({ _id, geometry }) =>
      geometry && visited.includes(_id) ? [geometry.coordinates[0]!.map(([x, y]): LngLat => [x!, y!])] : [],
    );
    return sightOf(positions, outlines);
  }, [locations, shapes, visited]);
  /** How many positions were fitted for these locations. Other explanations move nothing. */
  const fitted = useRef<{ readonly locations: unknown; readonly size: number }>(undefined);
  useEffect(() => {
    const isSame = fitted.current?.locations === locations;
    if (map === undefined || (isSame && (chosen !== undefined || fitted.current!.size >= sight.length))) return;
    fitted.current = { locations, size: sight.length };
    map.fit(sight);
  }, [map, locations, sight, chosen]);
  useEffect(() => {
    if (chosen) map?.flyTo(positionOf(chosen), 15);
  }, [map, chosen]);
  return (
    <div className="live-map">
      <DataMap
        label="Map of the timeline"
        sources={sources}
        layers={mapLayers}
        clickable={['point']}
        onReady={setMap}
        onClick={onChoose}
      />
    </div>
  );
}
