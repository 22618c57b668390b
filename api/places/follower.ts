/**
 * Gives geofences the new geometry of their place.
 *
 * The read model knows which geofences are behind their place, so nothing is lost by a restart, and any node may do the
 * work, one at a time. An edit is based on the record that was
 * read: if an owner was first, the geofence is compared again. A geofence that can't follow, for example because the
 * isochrone provider is down, keeps its geometry and is tried again, at growing intervals.
 */
import type { ReadModel } from '../../pipeline/catalog/store/read-model.js';
import type { ConfigurationWriter, Scope } from '../../pipeline/catalog/types.js';
import type { Leases } from '../../pipeline/ports.js';
import { createSweeper, type Sweeper, type TakeLease } from '../../pipeline/sweeper.js';
import { createBoundedCache } from '../../schemas/bounded-cache.js';
import { placeRecordId } from '../../schemas/ids.js';
import type { GeofenceRecord } from '../../schemas/json/geofence.js';
import type { GeometrySources } from '../dependencies.js';
import { followPlace } from '../geofences/geometry.js';
import { geofenceRecord } from '../geofences/record.js';

/** What the follower of places works with. One node at a time holds its lease. */
export interface PlaceFollowerParts {
  readonly readModel: Pick<ReadModel, 'outdatedGeofences' | 'record' | 'places' | 'bases'>;
  readonly writer: ConfigurationWriter;
  readonly takeLease: TakeLease;
  readonly leases: Leases;
  readonly sources: GeometrySources;
  /** Called when a geofence can't follow its place now. */
  readonly onProblem: (problem: { readonly geofence: string; readonly reason: string }) => void;
  readonly clock?: () => number;
  readonly intervalMs?: number;
}

const defaultIntervalMs = 1_000;
/** Geofences of one write, which are read and encoded in one turn. Each may have 150 kB. */
const batch = 20;
/** Geofences whose next attempt is remembered. */
const maxDelayed = 10_000;
/** Longer than an isochrone usually takes. A place that changes again meanwhile is followed afterwards. */
const isochroneLeaseMs = 15_000;
const firstDelayMs = 5_000;
const maxDelayMs = 300_000;

/** Creates the sweeper that lets geofences follow their places. */
export function createPlaceFollower(parts: PlaceFollowerParts): Sweeper {
  const {
    readModel,
    writer,
    takeLease,
    leases,
    sources,
    onProblem,
    clock = Date.now,
    intervalMs = defaultIntervalMs,
  } = parts;
  /** Geofences that could not follow. */
  const delayed = createBoundedCache<string, { readonly untilMs: number; readonly delayMs: number }>(maxDelayed);

  const isDelayed = (id: string): boolean => (delayed.peek(id)?.untilMs ?? 0) > clock();

  function delay(id: string, reason: string): void {
    const delayMs = Math.min(maxDelayMs, 2 * (delayed.peek(id)?.delayMs ?? firstDelayMs / 2));
    delayed.set(id, { untilMs: clock() + delayMs, delayMs });
    onProblem({ geofence: id, reason });
  }

  /** Writes those of the geofences that can follow now. */
  async function follow(ids: readonly string[]): Promise<void> {
    const changes = [];
    for (const id of ids) {
      const bases = readModel.bases('geofence', id);
      const record = readModel.record('geofence', id) as GeofenceRecord | null;
      const source = record?.geometrySource?.place;
      if (record === null || source === undefined) continue;
      const scope: Scope = { project: record.project, environment: record.environment };
      const place = readModel.places.find(scope, placeRecordId(scope.project, scope.environment, source.id));
      if (place === undefined) continue;
      // Each node plans its own attempts, and isochrones are too expensive to attempt on each of them.
      const isExpensive = record.type === 'isochrone';
      if (isExpensive && !(await leases.take(`places.${id}`, isochroneLeaseMs))) continue;
      const followed = await followPlace(record, place, sources);
      if (!followed.ok) {
        delay(id, followed.error.message);
        continue;
      }
      delayed.delete(id);
      const next = geofenceRecord(scope, followed.value, record, writer.nextTimestamp());
      changes.push({ kind: 'geofence' as const, id, record: next, bases });
    }
    if (changes.length > 0) await writer.write(changes);
  }

  return createSweeper({
    name: 'places',
    takeLease,
    intervalMs,
    isDue: () => readModel.outdatedGeofences(1).length > 0,
    /** Goes once through all geofences that are behind. Those that cannot follow now stay behind. */
    async sweep(ending) {
      await writer.catchUp();
      for (let after: string | undefined; !ending.aborted; ) {
        const ids = readModel.outdatedGeofences(batch, after);
        if (ids.length === 0) return;
        await follow(ids.filter((id) => !isDelayed(id)));
        after = ids.at(-1);
      }
    },
  });
}
