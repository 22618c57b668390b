/** The list of geofences. */
import type { Geofence } from '../../client/types';
import { grouped } from '../components/counts';
import { ResourcePage } from '../components/resource-page';

/** Returns the shape in a few words. */
function shapeOf({ type, geometryRadius, geometry, mode }: Geofence): string {
  if (type === 'circle') return `Circle, ${grouped(geometryRadius)} m`;
  if (type === 'isochrone') return `${geometryRadius} min by ${mode ?? 'car'}`;
  return `Polygon, ${grouped(Math.max(0, (geometry?.coordinates[0]?.length ?? 1) - 1))} points`;
}

const shape = { title: 'Shape', className: 'secondary narrow', cell: shapeOf };

export default function Geofences() {
  return (
    <ResourcePage
      resource="geofences"
      title="Geofences"
      intro="Areas that make events when devices enter, leave, or stay."
      definition="A geofence is a circle, a polygon, or the area within a travel time."
      column={shape}
    />
  );
}
