/** Reads `center`, `zoom` and `bbox`: the camera, or the area to show. */
import { invalid, type Validated } from '../../schemas/errors.js';
import type { Camera } from '../types.js';
import { readNumber } from './numbers.js';
import { parseLocation } from './segments.js';

const minZoom = 1;
const maxZoom = 23;

/**
 * Reads the camera. `hasOverlays` says whether markers, paths or geofences exist that the view can be fitted to. A bbox
 * takes precedence.
 */
export function readCamera(
  center: string | undefined,
  zoom: string | undefined,
  bbox: string | undefined,
  hasOverlays: boolean,
): Validated<Camera> {
  const location = center === undefined ? null : parseLocation(center);
  if (location && 'rule' in location) return invalid('center', location.rule);
  const position = location?.position ?? null;
  const level = zoom === undefined ? null : readNumber('zoom', zoom, { minimum: minZoom, maximum: maxZoom });
  if (level && !level.ok) return level;
  const box = bbox === undefined ? null : parseBox(bbox);
  if (typeof box === 'string') return invalid('bbox', box);
  if (box) return { ok: true, value: { center: null, zoom: null, bbox: box } };
  if (!hasOverlays && position === null)
    return invalid('center', 'is required unless markers, path, geofences or bbox is given');
  if (!hasOverlays && level === null)
    return invalid('zoom', 'is required unless markers, path, geofences or bbox is given');
  return { ok: true, value: { center: position, zoom: level?.value ?? null, bbox: null } };
}

/**
 * Parses a bbox. If west is greater than east, it crosses the antimeridian. South must be less than north. A box
 * without width or height has no zoom. Returns the rule that other texts break.
 */
function parseBox(text: string): NonNullable<Camera['bbox']> | string {
  const parts = text.split(',');
  if (parts.length !== 4) return 'must be min_latitude,min_longitude,max_latitude,max_longitude';
  const southWest = parseLocation(parts.slice(0, 2).join(','));
  const northEast = parseLocation(parts.slice(2).join(','));
  if ('rule' in southWest) return `min_latitude,min_longitude: ${southWest.rule}`;
  if ('rule' in northEast) return `max_latitude,max_longitude: ${northEast.rule}`;
  const [[west, south], [east, north]] = [southWest.position, northEast.position];
  if (south >= north) return 'min_latitude must be less than max_latitude';
  if (west === east) return 'min_longitude and max_longitude must be different';
  return [west, south, east, north];
}
