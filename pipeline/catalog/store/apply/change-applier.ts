/** Applies changes to the read model in their order, each batch in one transaction with the offset after it. */
import { Condition } from '../../../../schemas/condition.js';
import type { ChangeKind } from '../../../../schemas/records.js';
import type { DecodedChange } from '../../types.js';
import { PendingEdits } from '../tables/revisions.js';
import { type BatchWriterParts, createBatchWriter, type Settled } from './batch-writer.js';

interface ChangeApplierParts extends BatchWriterParts {
  /** Runs a transaction. May repeat one that failed, because it wrote nothing. */
  readonly commit: (transaction: () => Promise<void>) => Promise<void>;
}

/** The only writer of a read model's file. Readers in other threads see its commits. */
export interface ChangeApplier {
  /**
   * Applies changes in order; resolves when readers see them. Calls may overlap and are applied in their order: a
   * commit waits for the disk, and the next transaction runs meanwhile. The changes must come from
   * `createChangeDecoder`. After an unexpected rejection the same changes can be applied again.
   */
  apply(changes: readonly DecodedChange[], nextOffset: number, mark?: string | null): Promise<void>;
  /** Outcomes of the edits that this instance applies or refuses. */
  readonly edits: PendingEdits;
  /**
   * Starts again at the first change of a topic that was replaced. Deletes records for which `isKept` is false; the
   * others stay visible until the topic changes them. Following instances load everything again. No `apply` may run
   * meanwhile.
   */
  restart(isKept: (kind: ChangeKind, id: string) => boolean): Promise<void>;
  /** Resolves when this instance has applied everything before `offset`; rejects with the reason of `signal`. */
  waitFor(offset: number, signal?: AbortSignal): Promise<void>;
}

/** A call of `apply` that has not ended. */
interface ApplyCall {
  readonly nextOffset: number;
  readonly applied: Promise<void>;
}

/** Ends a transaction that has written nothing, because the one before it was not committed. */
class EarlierFailed extends Error {}

/**
 * Creates the applier of changes. Calls may overlap: their transactions run in the order of the calls, and a failed one
 * is repeated before those after it.
 */
export function createChangeApplier(parts: ChangeApplierParts): ChangeApplier {
  const { databases, commit } = parts;
  const { root, number } = databases;
  const batches = createBatchWriter(parts);
  const edits = new PendingEdits();
  /** Notified after each commit. */
  const progress = new Condition();

  /** Runs a transaction after that of an earlier call, which is repeated first if its commit failed. */
  async function committed(write: () => void, earlier: ApplyCall | undefined): Promise<void> {
    for (;;) {
      try {
        return await commit(() => root.transaction(write));
      } catch (error) {
        if (!(error instanceof EarlierFailed)) throw error;
        await earlier?.applied;
      }
    }
  }

  async function applyAfter(
    earlier: ApplyCall | undefined,
    changes: readonly DecodedChange[],
    nextOffset: number,
    mark: string | null,
  ): Promise<void> {
    let outcomes: readonly Settled[] = [];
    const write = (): void => {
      if (earlier !== undefined && number('nextOffset') !== earlier.nextOffset) throw new EarlierFailed();
      outcomes = batches.writeSync(changes, nextOffset, mark);
    };
    await committed(write, earlier);
    for (const [edit, outcome] of outcomes) edits.settle(edit, outcome);
    progress.notifyAll();
  }

  /** The newest call that has not ended. */
  let newest: ApplyCall | undefined;
  async function apply(changes: readonly DecodedChange[], nextOffset: number, mark: string | null = null) {
    const call = { nextOffset, applied: applyAfter(newest, changes, nextOffset, mark) };
    newest = call;
    try {
      await call.applied;
    } finally {
      if (newest === call) newest = undefined;
    }
  }

  async function restart(isKept: Parameters<ChangeApplier['restart']>[0]): Promise<void> {
    await commit(() => root.transaction(() => batches.restartSync(isKept)));
  }

  async function waitFor(offset: number, signal?: AbortSignal): Promise<void> {
    for (;;) {
      signal?.throwIfAborted();
      if (number('nextOffset') >= offset) return;
      await progress.wait({ signal });
    }
  }

  return { edits, apply, restart, waitFor };
}
