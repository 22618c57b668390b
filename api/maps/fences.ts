/** Finds the geofences of a map: all enabled ones of a tag. */
import type { ConfigurationReader, Scope } from '../../pipeline/catalog/types.js';
import type { FenceOverlay } from '../../renderer/types.js';
import { invalid, type Validated } from '../../schemas/errors.js';
import { type GeofenceRecord, isEnabledAt } from '../../schemas/json/geofence.js';

const param = 'geofences';
const maxGeofences = 1_000;
/** Maximum vertices of all polygons together. */
const maxPoints = 100_000;

const overlayOf = ({ ring, center, radius }: GeofenceRecord): FenceOverlay =>
  ring === null ? { type: 'circle', center, radiusM: radius } : { type: 'polygon', ring };

/** Returns a problem when there are none, or more than a map may have. */
export function fencesOfTag(
  configuration: ConfigurationReader,
  scope: Scope,
  tag: string,
  nowMs: number,
): Validated<readonly FenceOverlay[]> {
  const { items, hasMore } = configuration.geofences({ ...scope, tag, limit: maxGeofences, orderBy: 'createdAt' });
  if (hasMore) return invalid(param, `must be a tag of at most ${maxGeofences} geofences`);
  const enabled = items.filter((geofence) => isEnabledAt(geofence, nowMs));
  if (enabled.length === 0) return invalid(param, 'must be a tag of at least one enabled geofence');
  const points = enabled.reduce((sum, { ring }) => sum + (ring?.length ?? 0), 0);
  if (points > maxPoints) return invalid(param, `must be a tag of geofences with at most ${maxPoints} points in all`);
  return { ok: true, value: enabled.map(overlayOf) };
}
