/** Finds the geofences of a map: all enabled ones of a tag. */
import type { ConfigurationReader, Scope } from '../../pipeline/catalog/types.js';
import type { FenceOverlay } from '../../renderer/types.js';
import { invalid, type Validated } from '../../schemas/errors.js';
import type { GeofenceRecord } from '../../schemas/json/geofence.js';
import { createTurns } from '../../schemas/turns.js';

const param = 'geofences';
const maxGeofences = 1_000;
/** Maximum vertices of all polygons together. */
const maxPoints = 100_000;
/** Records that are read before other work goes on. Each may have thousands of vertices. */
const recordsPerTurn = 20;
const nextTurn = createTurns();

const overlayOf = ({ ring, center, radius }: GeofenceRecord): FenceOverlay =>
  ring === null ? { type: 'circle', center, radiusM: radius } : { type: 'polygon', ring };

/**
 * Returns a problem when there are none, or more than a map may have. Rejects with the reason of the signal when it
 * aborts.
 */
export async function fencesOfTag(
  configuration: Pick<ConfigurationReader, 'searchGeofences'>,
  { project, environment }: Scope,
  tag: string,
  leaving: AbortSignal,
): Promise<Validated<readonly FenceOverlay[]>> {
  const wanted = { project, environment, tag, enabled: true, sort: 'createdAt', isDescending: true } as const;
  const fences: FenceOverlay[] = [];
  let points = 0;
  for (let from: string | null = null; ; await nextTurn(leaving)) {
    const part = configuration.searchGeofences({ ...wanted, from, limit: recordsPerTurn, maxExamined: recordsPerTurn });
    for (const record of part.items) {
      fences.push(overlayOf(record));
      points += record.ring?.length ?? 0;
    }
    if (fences.length > maxGeofences)
      return invalid(param, `must be a tag of at most ${maxGeofences} enabled geofences`);
    if (points > maxPoints) return invalid(param, `must be a tag of geofences with at most ${maxPoints} points in all`);
    if (part.next === null) break;
    from = part.next;
  }
  return fences.length > 0
    ? { ok: true, value: fences }
    : invalid(param, 'must be a tag of at least one enabled geofence');
}
