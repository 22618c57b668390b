/** A picture of a geofence on a static map of this server. */
import { useState } from 'react';
import type { Geofence } from '../../client/types';
import { urlOf } from '../client/call';
import { longitudeNear } from '../drawing/antimeridian';
import { outlineOf, type Position, shapeOfGeofence } from '../drawing/shape';
import type { GeofenceDraft } from '../forms/geofence';
import { useTheme } from '../state/use-theme';
import { useSettled } from './list-filters';

const precision = 1e5;

/** Encodes positions as a polyline of 5 decimals. Static maps refuse longitudes beyond 180, and draw the short way. */
function polylineOf(positions: readonly Position[]): string {
  let text = '';
  let before = [0, 0];
  const append = (difference: number) => {
    let rest = difference < 0 ? ~(difference << 1) : difference << 1;
    while (rest >= 0x20) {
      text += String.fromCharCode((0x20 | (rest & 0x1f)) + 63);
      rest >>= 5;
    }
    text += String.fromCharCode(rest + 63);
  };
  for (const [longitude, latitude] of positions) {
    const now = [Math.round(latitude * precision), Math.round(longitudeNear(longitude, 0) * precision)];
    append(now[0]! - before[0]!);
    append(now[1]! - before[1]!);
    before = now;
  }
  return text;
}

/** Returns the outline of what the form describes; undefined while that is not known. */
function outlineIn(draft: GeofenceDraft, stored: Geofence | undefined): readonly Position[] | undefined {
  // Only the server can compute the area of a travel time.
  if (draft.type === 'isochrone') return stored?.type === 'isochrone' ? stored.geometry?.coordinates[0] : undefined;
  const shape = shapeOfGeofence(draft);
  return shape && outlineOf(shape);
}

const strokes = { light: '0x0b6b66', dark: '0x52c5ba' };
const styles = { light: 'svc-light-v1', dark: 'svc-dark-v1' };

/** Shows the area of a form on a static map, 0.6 s after the last change; nothing while its shape is not known. */
export function ShapePicture({
  draft,
  stored,
}: {
  readonly draft: GeofenceDraft;
  readonly stored: Geofence | undefined;
}) {
  const theme = useTheme();
  const outline = outlineIn(draft, stored);
  const path = useSettled(
    outline ? `stroke:${strokes[theme]}|width:3|borderWidth:0|enc:${polylineOf(outline)}` : '',
    600,
  );
  const [failed, setFailed] = useState('');
  if (path === '' || failed === path) return null;
  const source = urlOf('/maps/static', { width: 760, height: 260, scale: 2, style: styles[theme], path });
  return (
    <img
      className="shape-picture"
      src={source}
      alt="The area on a map"
      loading="lazy"
      onError={() => setFailed(path)}
    />
  );
}
