/** The shapes of a file on a map, before anything is sent. */
import type { Feature, FeatureCollection, Geometry } from 'geojson';
import type { GeoJSONSource, Map as GeoMap } from 'maplibre-gl';
import { useEffect, useRef, useState } from 'react';
import type { Beacon, Geofence } from '../../client/types';
import { type BaseMap, createBaseMap } from '../components/base-map';
import { accents, type MapStyle, palettes, type Theme } from '../components/map-look';
import { useTheme } from '../state/theme';

interface Props {
  readonly geofences: readonly Geofence[];
  readonly beacons: readonly Beacon[];
}

const styleOf = (theme: Theme): MapStyle => (theme === 'dark' ? 'svc-dark-v1' : 'svc-light-v1');

const collectionOf = (geometries: readonly Geometry[]): FeatureCollection => ({
  type: 'FeatureCollection',
  features: geometries.map((geometry): Feature => ({ type: 'Feature', geometry, properties: {} })),
});

type Position = [longitude: number, latitude: number];

const positionsOf = ({ geofences, beacons }: Props): Position[] => [
  ...geofences.map(({ geometryCenter }) => geometryCenter.coordinates),
  ...beacons.flatMap(({ geometry }) => (geometry ? [geometry.coordinates] : [])),
];

/** Below this zoom a geofence is smaller than a point. */
const shapesFromZoom = 11;

function dataOf(props: Props): Record<'shapes' | 'points', FeatureCollection> {
  return {
    shapes: collectionOf(props.geofences.flatMap(({ geometry }) => geometry ?? [])),
    points: collectionOf(positionsOf(props).map((coordinates) => ({ type: 'Point', coordinates }))),
  };
}

function addLayers(map: GeoMap, shade: Theme, props: Props): void {
  for (const [id, data] of Object.entries(dataOf(props))) map.addSource(id, { type: 'geojson', data });
  const [fence, beacon] = palettes.kind[shade];
  map.addLayer({
    ...{ id: 'shape-fill', type: 'fill', source: 'shapes', minzoom: shapesFromZoom },
    paint: { 'fill-color': fence, 'fill-opacity': 0.2 },
  });
  map.addLayer({
    ...{ id: 'shape-line', type: 'line', source: 'shapes', minzoom: shapesFromZoom },
    paint: { 'line-color': fence, 'line-width': 1.6 },
  });
  const isBeacons = props.beacons.length > 0;
  map.addLayer({
    ...{ id: 'point', type: 'circle', source: 'points', ...(!isBeacons && { maxzoom: shapesFromZoom + 3 }) },
    paint: {
      'circle-color': isBeacons ? beacon : fence,
      'circle-radius': 4,
      'circle-opacity': 0.85,
      'circle-stroke-width': 1,
      'circle-stroke-color': accents[shade].halo,
    },
  });
}

/** Brings all shapes into sight. */
function showAll(map: GeoMap, props: Props): void {
  const [first, ...rest] = positionsOf(props);
  if (first === undefined) return;
  let [west, south, east, north] = [first[0], first[1], first[0], first[1]];
  for (const [longitude, latitude] of rest) {
    [west, east] = [Math.min(west, longitude), Math.max(east, longitude)];
    [south, north] = [Math.min(south, latitude), Math.max(north, latitude)];
  }
  map.fitBounds([west, south, east, north], { padding: 40, maxZoom: 15, duration: 0 });
}

export default function PreviewMap(props: Props) {
  const theme = useTheme();
  const container = useRef<HTMLDivElement>(null);
  const base = useRef<BaseMap>(null);
  const shown = useRef(props);
  const [isDrawable, setDrawable] = useState(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the theme goes to the map that is there
  useEffect(() => {
    try {
      base.current = createBaseMap({
        container: container.current!,
        style: styleOf(theme),
        onStyle: (map, shade) => addLayers(map, shade, shown.current),
      });
    } catch {
      setDrawable(false);
    }
    return () => {
      base.current?.map.remove();
      base.current = null;
    };
  }, []);
  useEffect(() => base.current?.setStyle(styleOf(theme)), [theme]);
  const { geofences, beacons } = props;
  useEffect(() => {
    shown.current = { geofences, beacons };
    const map = base.current?.map;
    if (map === undefined) return;
    for (const [id, data] of Object.entries(dataOf(shown.current))) map.getSource<GeoJSONSource>(id)?.setData(data);
    showAll(map, shown.current);
  }, [geofences, beacons]);
  if (!isDrawable) return <p className="quiet card-body">This browser cannot draw the map: it has no WebGL.</p>;
  return <div className="preview-map map-canvas" ref={container} />;
}
