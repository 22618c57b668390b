/** Reads `center`, `zoom` and `bbox`: the camera, or the area to show. */
import { invalid, type Validated } from '../../schemas/errors.js';
import type { Camera } from '../types.js';
import { readNumber } from './numbers.js';
import { parseLocation } from './segments.js';

export const minZoom = 1;
export const maxZoom = 23;

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
  const position = center === undefined ? null : parseLocation(center);
  if (position === undefined) return invalid('center', 'must be latitude,longitude');
  const level = zoom === undefined ? null : readNumber('zoom', zoom, { minimum: minZoom, maximum: maxZoom });
  if (level && !level.ok) return level;
  const box = bbox === undefined ? null : parseBox(bbox);
  if (box === undefined)
    return invalid(
      'bbox',
      'must be min_latitude,min_longitude,max_latitude,max_longitude, with different latitudes and longitudes',
    );
  if (box) return { ok: true, value: { center: null, zoom: null, bbox: box } };
  if (!hasOverlays && position === null)
    return invalid('center', 'is required unless markers, path, geofences or bbox is given');
  if (!hasOverlays && level === null)
    return invalid('zoom', 'is required unless markers, path, geofences or bbox is given');
  return { ok: true, value: { center: position, zoom: level?.value ?? null, bbox: null } };
}

/**
 * Parses a bbox. If west is greater than east, it crosses the antimeridian. South must be less than north. A box
 * without width or height has no zoom.
 */
function parseBox(text: string): NonNullable<Camera['bbox']> | undefined {
  const parts = text.split(',');
  if (parts.length !== 4) return undefined;
  const southWest = parseLocation(parts.slice(0, 2).join(','));
  const northEast = parseLocation(parts.slice(2).join(','));
  if (!southWest || !northEast || southWest[1] >= northEast[1] || southWest[0] === northEast[0]) return undefined;
  return [southWest[0], southWest[1], northEast[0], northEast[1]];
}
