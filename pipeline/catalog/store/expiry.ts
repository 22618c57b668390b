/**
 * Deletes, by the clock, the geofences whose `deleteAfter` passed so long ago that no location of before is expected
 * any more.
 */
import type { Leases } from '../../ports.js';
import type { ConfigurationWriter } from '../types.js';
import type { ReadModel } from './read-model.js';
import { createSweeper, type Sweeper } from './sweeper.js';

/** Deleted in one write; a sweep goes on until nothing is due. */
const maxDeletedAtOnce = 1_000;

/** Should the owner move `deleteAfter` in the moment between looking and writing, the tombstone is refused. */
export function createExpirySweeper({
  readModel,
  writer,
  leases,
  clock = Date.now,
  intervalMs = 15_000,
  keepMs,
}: {
  readModel: Pick<ReadModel, 'expired' | 'bases'>;
  writer: Pick<ConfigurationWriter, 'write' | 'catchUp'>;
  leases: Leases;
  clock?: () => number;
  intervalMs?: number;
  /** How long after its `deleteAfter` a geofence is kept for late locations. */
  keepMs: number;
}): Sweeper {
  const due = (): string[] => readModel.expired(clock() - keepMs, maxDeletedAtOnce);

  return createSweeper({
    name: 'expiry',
    leases,
    intervalMs,
    isDue: () => due().length > 0,
    async sweep() {
      // A read model that lags behind the log may show a time that its owner has moved: look again once it has caught
      // up.
      await writer.catchUp();
      const kind = 'geofence';
      await writer.write(due().map((id) => ({ kind, id, record: null, bases: readModel.bases(kind, id) })));
    },
  });
}
