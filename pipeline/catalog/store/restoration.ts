/**
 * Appends records anew whose newest changes were refused: else compaction would keep the refused ones, and a read model
 * that is made anew would apply them.
 *
 * What is appended names the refused changes among its bases, so that a read model that has applied one of them for
 * want of what came before applies this too. It may be
 * refused itself, when an edit has come first: then it is made up for in its turn.
 */
import type { Leases } from '../../ports.js';
import type { ConfigurationWriter } from '../types.js';
import type { ReadModel } from './read-model.js';
import { createSweeper, type Sweeper } from './sweeper.js';

/** Appended in one write. Few: a map marker has 350 kB. */
const maxRestoredAtOnce = 20;

/** `intervalMs` must be far below the compaction lag of topic `changes`. */
export function createRestorationSweeper({
  readModel,
  writer,
  leases,
  intervalMs = 15_000,
}: {
  readModel: Pick<ReadModel, 'contested' | 'record' | 'bases'>;
  writer: Pick<ConfigurationWriter, 'write'>;
  leases: Leases;
  intervalMs?: number;
}): Sweeper {
  return createSweeper({
    name: 'restoration',
    leases,
    intervalMs,
    isDue: () => readModel.contested(1).length > 0,
    async sweep() {
      const contested = readModel.contested(maxRestoredAtOnce);
      await writer.write(
        contested.map(({ kind, id }) => ({
          kind,
          id,
          record: readModel.record(kind, id),
          bases: readModel.bases(kind, id),
        })),
      );
    },
  });
}
