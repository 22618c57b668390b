/**
 * Erases users, events and deleted projects from everything that answers queries: device states, the tables of
 * analytics, and pending deliveries; of a project also its configuration. Topics forget by retention.
 *
 * Input: erasures of the read model. Output: commands on topic `locations`, which the location stage applies in the
 * order of a device's locations; deleted rows; removed deliveries; and the completion of each erasure. One node keeps
 * the lease of all erasures, and another takes over where it ends.
 *
 * A first pass runs at once. The last one runs when nothing that was received before the erasure can still be on its
 * way: `graceMs` later, when the stages have passed the ends of their topics. Until the topics have forgotten, passes
 * are repeated, because a stage that reads a topic again writes rows again.
 */
import { hourMs } from '../../../schemas/durations.js';
import type { ErasureRecord } from '../../../schemas/json/erasure.js';
import type { ReadModel } from '../../catalog/store/read-model.js';
import { hasFailed } from '../../records/erased-name.js';
import { erasureGraceMs } from '../../records/erasure-command.js';
import { createSweeper, type Sweeper, type TakeLease } from '../../sweeper.js';
import { createPasses, type PassParts, type RunningSweep } from './passes.js';
import { createProgress, type ProgressParts } from './progress.js';
import { createRows, type RowsParts } from './rows.js';
import { type Batch, ErasureSchedule, isWhole, type ScheduleTiming } from './schedule.js';

/** What the eraser of a node works with. */
export interface EraserParts
  extends Omit<PassParts, 'clockGraceMs'>,
    Omit<RowsParts, 'ending'>,
    Pick<ProgressParts, 'positions'> {
  readonly readModel: PassParts['readModel'] & Pick<ReadModel, 'project'>;
  readonly log: PassParts['log'] & ProgressParts['log'];
  readonly states: PassParts['states'] & ProgressParts['states'];
  readonly deliveries: PassParts['deliveries'] & ProgressParts['deliveries'];
  readonly takeLease: TakeLease;
  readonly retentionMs: ScheduleTiming['retentionMs'];
  /** Called when a pass failed. It is repeated. The message names no user. */
  readonly onProblem: (error: unknown) => void;
  /** Called with the `_id`s of erasures whose names were encrypted with another encryption key. */
  readonly onFailed: (ids: readonly string[]) => void;
  readonly timing?: Partial<EraserTiming>;
}

interface EraserTiming extends Omit<ScheduleTiming, 'retentionMs'> {
  /** How long the last pass waits for the stages before it is put off. */
  readonly patienceMs: number;
}

const defaultTiming: EraserTiming = {
  intervalMs: 1_000,
  graceMs: erasureGraceMs,
  recheckMs: hourMs,
  patienceMs: 10_000,
  retryMs: 10_000,
  maxRetryMs: 5 * 60 * 1_000,
};

/** Creates the eraser. It does nothing before `start`, and never rejects. */
export function createEraser(parts: EraserParts): Sweeper {
  const { readModel, writer, clock, onProblem, onFailed } = parts;
  const timing = { ...defaultTiming, ...parts.timing };
  const passes = createPasses({ ...parts, clockGraceMs: timing.graceMs });
  const schedule = new ErasureSchedule({ ...timing, retentionMs: parts.retentionMs });

  /** The erasure of a project is written with its deletion, which may have been refused. */
  const isWithdrawn = (record: ErasureRecord): boolean =>
    isWhole(record) && readModel.project(record.project) !== undefined;
  const due = (): ErasureRecord[] =>
    schedule.due(readModel.allErasures(), clock()).filter((record) => !isWithdrawn(record));

  async function sweep(ending: AbortSignal): Promise<void> {
    const progress = createProgress({ ...parts, patienceMs: timing.patienceMs, ending });
    const rows = createRows({ ...parts, ending });
    while (!ending.aborted) {
      const batch = schedule.nextBatch(due());
      if (batch === undefined) return;
      await tryErase(batch, { rows, progress, ending });
    }
  }

  /** Plans another try of a batch that fails. One that was ended is left to the next node. */
  async function tryErase(batch: Batch, sweep: RunningSweep): Promise<void> {
    try {
      await erase(batch, sweep);
      for (const record of batch.records) schedule.forgetFailures(record);
    } catch (error) {
      if (sweep.ending.aborted) return;
      onProblem(error);
      for (const record of batch.records) schedule.planRetry(record, clock());
    }
  }

  async function erase(given: Batch, sweep: RunningSweep): Promise<void> {
    const batch = withoutFailed(given);
    if (batch.records.length === 0) return;
    const old = batch.records.filter((record) => schedule.isForgotten(record, clock()));
    if (old.length > 0) return write(old.map(({ _id }) => ({ id: _id, record: null })));
    // The others get their first pass, or one that looks for rows that were written again.
    const last = batch.records.filter((record) => schedule.isLastPass(record, clock()));
    const [record] = batch.records;
    const isComplete =
      record !== undefined && isWhole(record)
        ? await passes.passWhole(record, last.length > 0, sweep)
        : await passes.pass(batch, last, sweep);
    if (last.length > 0 && isComplete) {
      const completedAt = clock();
      await write(
        last.map((record) => ({ id: record._id, record: { ...record, completedAt, updatedAt: completedAt } })),
      );
    }
    for (const record of batch.records) schedule.planNext(record, isComplete && last.includes(record), clock());
  }

  /** Reports erasures that can never be done, and leaves them out until this process ends. */
  function withoutFailed(batch: Batch): Batch {
    const failed = batch.records.filter((record) => hasFailed(record, parts.secretCipher));
    if (failed.length === 0) return batch;
    for (const record of failed) schedule.planNone(record, clock());
    onFailed(failed.map(({ _id }) => _id));
    return { ...batch, records: batch.records.filter((record) => !failed.includes(record)) };
  }

  async function write(changes: { readonly id: string; readonly record: ErasureRecord | null }[]): Promise<void> {
    await writer.catchUp();
    await writer.write(
      changes.map((change) => ({ ...change, kind: 'erasure', bases: readModel.bases('erasure', change.id) })),
    );
  }

  return createSweeper({
    name: 'erasure',
    takeLease: parts.takeLease,
    intervalMs: timing.intervalMs,
    isDue: () => due().length > 0,
    sweep,
    // Only this node's schedule knows which passes are done.
    isUnfinished: () => readModel.allErasures().length > 0,
  });
}
