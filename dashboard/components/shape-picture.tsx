/** A picture of a geofence on a static map of this server. */
import { useState } from 'react';
import type { Geofence } from '../../client/types';
import { urlOf } from '../client/call';
import { circleRing, type GeofenceDraft, ringOf } from '../forms/geofence';
import { useTheme } from '../state/use-theme';
import { useSettled } from './list-filters';

type Position = readonly [longitude: number, latitude: number];

const precision = 1e5;

/** Encodes positions as a polyline of 5 decimals. */
export function polylineOf(positions: readonly Position[]): string {
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
    const now = [Math.round(latitude * precision), Math.round(longitude * precision)];
    append(now[0]! - before[0]!);
    append(now[1]! - before[1]!);
    before = now;
  }
  return text;
}

const isPosition = (position: Position): boolean =>
  position.length === 2 && Math.abs(position[0]) <= 180 && Math.abs(position[1]) <= 85;

/** Returns the outline of what the form describes; undefined while that is not known. */
function outlineOf(draft: GeofenceDraft, stored: Geofence | undefined): readonly Position[] | undefined {
  if (draft.type === 'polygon') {
    const ring = draft.points.trim() === '' ? '' : ringOf(draft.points);
    return typeof ring === 'string' || ring.length < 4 || !ring.every(isPosition) ? undefined : ring;
  }
  // Only the server can compute the area of a travel time.
  if (draft.type === 'isochrone') return stored?.type === 'isochrone' ? stored.geometry?.coordinates[0] : undefined;
  const [latitude, longitude, radius] = [draft.latitude, draft.longitude, draft.radius].map(Number) as [
    number,
    number,
    number,
  ];
  const isKnown = draft.latitude.trim() !== '' && draft.longitude.trim() !== '' && radius > 0 && radius <= 10_000;
  return isKnown && isPosition([longitude, latitude]) ? circleRing([longitude, latitude], radius) : undefined;
}

const strokes = { light: '0x0b6b66', dark: '0x52c5ba' };
const styles = { light: 'svc-light-v1', dark: 'svc-dark-v1' };

export function ShapePicture({
  draft,
  stored,
}: {
  readonly draft: GeofenceDraft;
  readonly stored: Geofence | undefined;
}) {
  const theme = useTheme();
  const outline = outlineOf(draft, stored);
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
