/**
 * Prepares changes of geofences in another thread than the one that applies them: all that the read model stores, made
 * from the record and the one that it replaces. Applying such a change decodes nothing.
 *
 * It holds only if the record still is what the change replaces. Otherwise the change is decoded and applied as any
 * other. Both ways write the same bytes.
 */
import type { GeofenceRecord } from '../../../../schemas/json/geofence.js';
import type { ConfigurationChange, ListedTimes, PreparedFence } from '../../types.js';
import { changedListKeys } from '../tables/keys.js';
import { encodeFence, noVersion } from '../tables/stored-fence.js';

const timesOf = ({ tag, createdAt, updatedAt }: GeofenceRecord): ListedTimes => ({ tag, createdAt, updatedAt });

/** Tests whether tables other than the lists refer to the geofence. */
const hasMore = ({ deleteAfter, geometrySource }: GeofenceRecord): boolean =>
  deleteAfter !== null || geometrySource?.place != null;

/** Returns the revision that the change replaces, null for none; undefined if the record is not of that revision. */
function baseOf({ bases = [] }: ConfigurationChange, before: GeofenceRecord | null): number | null | undefined {
  const [first] = bases;
  if (before === null) return bases.includes('absent') ? null : undefined;
  return typeof first === 'number' && !bases.includes('absent') ? first : undefined;
}

/**
 * Prepares a change, whose record's JSON is `text`. Undefined if the caller did not say what the change replaces, or if
 * the change must be applied as any other.
 */
export function prepareFence(change: ConfigurationChange, text: string): PreparedFence | undefined {
  if (change.kind !== 'geofence' || change.record === null || change.before === undefined) return undefined;
  const [before, after] = [change.before, change.record] as [GeofenceRecord | null, GeofenceRecord];
  const base = baseOf(change, before);
  if (base === undefined || hasMore(after) || (before !== null && hasMore(before))) return undefined;
  const { project, environment } = after;
  return {
    base,
    scope: { project, environment },
    stored: Buffer.from(encodeFence(after, noVersion, text)),
    before: before && timesOf(before),
    after: timesOf(after),
    ...changedListKeys('geofence', before, after),
  };
}
