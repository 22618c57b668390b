/** The map of a proposal: current geofences, the proposed one with its corners, and the events of the replay. */
import type { Feature, Geometry } from 'geojson';
import { useEffect, useRef, useState } from 'react';
import type { Fences } from '../client/fences';
import { capitalized } from '../components/counts';
import { collectionOf, DataMap, type Layer, type LngLat, type MapHandle, type Palette } from '../components/data-map';
import { useFencesOnMap } from '../components/fences-on-map';
import { cornersOf } from '../drawing/places';
import { outlineOf, type Position, type Shape } from '../drawing/shape';
import { type Found, foundInNames } from './compare';

const sources = ['fences', 'events', 'proposed', 'corners'] as const;
const layers = ({ fence, added, removed, quiet, chosen, halo }: Palette): readonly Layer[] => [
  { id: 'fence-fill', type: 'fill', source: 'fences', paint: { 'fill-color': fence, 'fill-opacity': 0.05 } },
  { id: 'fence-line', type: 'line', source: 'fences', paint: { 'line-color': fence, 'line-opacity': 0.6 } },
  { id: 'proposed-fill', type: 'fill', source: 'proposed', paint: { 'fill-color': chosen, 'fill-opacity': 0.16 } },
  {
    id: 'proposed-line',
    type: 'line',
    source: 'proposed',
    paint: { 'line-color': chosen, 'line-width': 2, 'line-dasharray': [2, 1] },
  },
  {
    id: 'event',
    type: 'circle',
    source: 'events',
    paint: {
      'circle-color': ['match', ['get', 'foundIn'], 'replay', added, 'record', removed, quiet],
      'circle-radius': ['match', ['get', 'foundIn'], 'both', 3, 5],
      'circle-stroke-width': 1.2,
      'circle-stroke-color': halo,
    },
  },
  {
    id: 'corner',
    type: 'circle',
    source: 'corners',
    paint: { 'circle-color': chosen, 'circle-radius': 5, 'circle-stroke-width': 2, 'circle-stroke-color': halo },
  },
];

const featureOf = (geometry: Geometry): Feature => ({ type: 'Feature', geometry, properties: {} });
const copy = (position: Position): number[] => [...position];

interface ProposalMapProps {
  readonly fences: Fences;
  readonly keepsFences: boolean;
  readonly proposed: Shape | undefined;
  readonly found: readonly Found[];
  onReady(map: MapHandle): void;
  onClick(at: LngLat): void;
}

export function ProposalMap({ fences, keepsFences, proposed, found, onReady, onClick }: ProposalMapProps) {
  const [map, setMap] = useState<MapHandle>();
  const { loaded } = fences;
  const fencesText = useFencesOnMap(map, fences, keepsFences);
  const hasFitted = useRef(false);
  useEffect(() => {
    const corners = [...loaded.index.byId.values()].flatMap(cornersOf);
    if (map === undefined || hasFitted.current || corners.length === 0) return;
    hasFitted.current = true;
    map.fit(corners, 14);
  }, [map, loaded]);
  useEffect(() => {
    const outline = proposed && outlineOf(proposed);
    map?.set(
      'proposed',
      collectionOf(outline ? [featureOf({ type: 'Polygon', coordinates: [outline.map(copy)] })] : []),
    );
    const corners = proposed?.type === 'polygon' ? proposed.points : proposed ? [proposed.centre] : [];
    map?.set('corners', collectionOf(corners.map((point) => featureOf({ type: 'Point', coordinates: copy(point) }))));
  }, [map, proposed]);
  useEffect(() => {
    const features = found.flatMap(({ event, foundIn }): Feature[] =>
      event.location
        ? [{ type: 'Feature', geometry: event.location as never, properties: { id: event._id, foundIn } }]
        : [],
    );
    map?.set('events', collectionOf(features));
  }, [map, found]);
  return (
    <div className="live-map">
      <DataMap
        label="Map of the proposal"
        sources={sources}
        layers={layers}
        onReady={(handle) => {
          setMap(handle);
          onReady(handle);
        }}
        onClick={(_, at) => onClick(at)}
      />
      {fencesText !== undefined && <p className="map-count">{capitalized(fencesText)}</p>}
      <ul className="legend small" aria-label="Legend">
        {(['replay', 'record', 'both'] as const).map((foundIn) => (
          <li key={foundIn}>
            <span className={`mark ${foundIn}`} /> {foundInNames[foundIn]}
          </li>
        ))}
      </ul>
    </div>
  );
}
