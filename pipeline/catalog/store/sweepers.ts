/** Deletes expired geofences, and restores records whose newest edits were refused. */
import { createSweeper, type Sweeper, type TakeLease } from '../../sweeper.js';
import type { ConfigurationWriter } from '../types.js';
import type { ReadModel } from './read-model.js';

const restorationIntervalMs = 15_000;
/** Deletions in one write. */
const maxDeletedAtOnce = 1_000;
/** Restored records in one write. Few, because a map marker has 350 kB. */
const maxRestoredAtOnce = 20;

/**
 * Creates the sweeper that deletes geofences `retentionMs` after their `deleteAfter`. Until then late locations are
 * still evaluated against them.
 */
export function createExpirySweeper({
  readModel,
  writer,
  takeLease,
  clock = Date.now,
  intervalMs,
  retentionMs,
}: {
  readModel: Pick<ReadModel, 'expired' | 'bases'>;
  writer: Pick<ConfigurationWriter, 'write' | 'catchUp'>;
  takeLease: TakeLease;
  clock?: () => number;
  intervalMs: number;
  retentionMs: number;
}): Sweeper {
  const kind = 'geofence';
  const due = (): string[] => readModel.expired(clock() - retentionMs, maxDeletedAtOnce);

  return createSweeper({
    name: 'expiry',
    takeLease,
    intervalMs,
    isDue: () => due().length > 0,
    async sweep(ending) {
      for (;;) {
        // A lagging read model may show an old `deleteAfter`. If it changes after this check, the tombstone is refused.
        await writer.catchUp();
        const ids = due();
        if (ids.length === 0 || ending.aborted) return;
        await writer.write(ids.map((id) => ({ kind, id, record: null, bases: readModel.bases(kind, id) })));
      }
    },
  });
}

/**
 * Creates the sweeper that appends records again whose newest changes were refused. Otherwise compaction would keep
 * only the refused changes, and a rebuilt read model would apply them.
 *
 * An appended record names the refused changes among its bases, so that a read model that applied one of them applies
 * it too. It may be refused itself if another edit came first; a later sweep then restores the record.
 * @param parts.intervalMs must be far below the compaction lag of topic `changes`.
 */
export function createRestorationSweeper({
  readModel,
  writer,
  takeLease,
  intervalMs = restorationIntervalMs,
}: {
  readModel: Pick<ReadModel, 'contested' | 'record' | 'bases'>;
  writer: Pick<ConfigurationWriter, 'write'>;
  takeLease: TakeLease;
  intervalMs?: number;
}): Sweeper {
  const restored = (contested: ReturnType<ReadModel['contested']>) =>
    contested.map(({ kind, id }) => ({
      kind,
      id,
      record: readModel.record(kind, id),
      bases: readModel.bases(kind, id),
    }));

  return createSweeper({
    name: 'restoration',
    takeLease,
    intervalMs,
    isDue: () => readModel.contested(1).length > 0,
    async sweep(ending) {
      for (;;) {
        const contested = readModel.contested(maxRestoredAtOnce);
        if (contested.length === 0 || ending.aborted) return;
        await writer.write(restored(contested));
      }
    },
  });
}
