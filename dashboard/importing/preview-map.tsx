/** The shapes of a file on a map, before anything is sent. */
import { useEffect, useRef, useState } from 'react';
import type { Beacon, Geofence } from '../client/types';
import { createMapView, type MapView } from '../components/map-view';
import { useTheme } from '../state/theme';

interface Props {
  readonly geofences: readonly Geofence[];
  readonly beacons: readonly Beacon[];
}

export default function PreviewMap({ geofences, beacons }: Props) {
  const theme = useTheme();
  const container = useRef<HTMLDivElement>(null);
  const view = useRef<MapView>(null);
  const [isDrawable, setDrawable] = useState(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the theme goes to the map that is there
  useEffect(() => {
    try {
      view.current = createMapView({ container: container.current!, theme, onChoose: () => {} });
    } catch {
      setDrawable(false);
    }
    return () => {
      view.current?.remove();
      view.current = null;
    };
  }, []);
  useEffect(() => view.current?.setTheme(theme), [theme]);
  useEffect(() => {
    view.current?.setPlaces(geofences, beacons);
    view.current?.showAll();
  }, [geofences, beacons]);
  if (!isDrawable) return <p className="quiet card-body">This browser can not draw the map: it has no WebGL.</p>;
  return <div className="preview-map map-canvas" ref={container} />;
}
