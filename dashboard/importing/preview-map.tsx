/** The shapes of a file on a map, before anything is sent. */
import type { Geometry } from 'geojson';
import { useEffect, useState } from 'react';
import type { Beacon, Geofence } from '../../client/types';
import { collectionOf, DataMap, type Layer, type MapHandle, type Palette } from '../components/data-map';

interface Props {
  readonly geofences: readonly Geofence[];
  readonly beacons: readonly Beacon[];
}

const shapesOf = (geometries: readonly Geometry[]) =>
  collectionOf(geometries.map((geometry) => ({ type: 'Feature', geometry, properties: {} })));

const sources = ['shapes', 'fences', 'beacons'] as const;

/** Below this zoom a geofence is smaller than a point. */
const shapesFromZoom = 11;

const pointPaint = (colour: string, halo: string) => ({
  'circle-color': colour,
  'circle-radius': 4,
  'circle-opacity': 0.85,
  'circle-stroke-width': 1,
  'circle-stroke-color': halo,
});

const layers = ({ fence, beacon, halo }: Palette): readonly Layer[] => [
  {
    id: 'shape-fill',
    type: 'fill',
    source: 'shapes',
    minzoom: shapesFromZoom,
    paint: { 'fill-color': fence, 'fill-opacity': 0.2 },
  },
  {
    id: 'shape-line',
    type: 'line',
    source: 'shapes',
    minzoom: shapesFromZoom,
    paint: { 'line-color': fence, 'line-width': 1.6 },
  },
  {
    id: 'fence',
    type: 'circle',
    source: 'fences',
    maxzoom: shapesFromZoom + 3,
    paint: pointPaint(fence, halo),
  },
  { id: 'beacon', type: 'circle', source: 'beacons', paint: pointPaint(beacon, halo) },
];

export function PreviewMap({ geofences, beacons }: Props) {
  const [map, setMap] = useState<MapHandle>();
  useEffect(() => {
    const centres = geofences.map(({ geometryCenter }) => geometryCenter);
    const points = beacons.flatMap(({ geometry }) => geometry ?? []);
    map?.set('shapes', shapesOf(geofences.flatMap(({ geometry }) => geometry ?? [])));
    map?.set('fences', shapesOf(centres));
    map?.set('beacons', shapesOf(points));
    map?.fit(
      [...centres, ...points].map(({ coordinates }) => coordinates),
      15,
    );
  }, [map, geofences, beacons]);
  return <DataMap label="Map of the file" className="preview-map" sources={sources} layers={layers} onReady={setMap} />;
}
