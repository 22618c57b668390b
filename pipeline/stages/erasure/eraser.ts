/**
 * Erases users, events and deleted projects from everything that answers queries: device states, the tables of
 * analytics, and pending deliveries; of a project also its configuration. Topics forget by retention.
 *
 * Input: erasures of the read model. Output: commands on topic `locations`, which the location stage applies in the
 * order of a device's locations; deleted rows; removed deliveries; and the completion of each erasure. Every step can
 * be repeated, so a crash does no harm. One node keeps the lease of all erasures, and another takes over where it ends.
 *
 * A first pass runs at once. The last one runs when nothing that was received before the erasure can still be on its
 * way: `graceMs` later, when the stages have passed the ends of their topics. Until the topics have forgotten, passes
 * are repeated, because a stage that reads a topic again writes rows again.
 *
 * The first pass commands every device that it finds, because locations that are not evaluated yet may create a state.
 * Later passes run when all of these are evaluated, so the states tell which devices still need a command. A first pass
 * that failed is therefore not repeated: the last one does the same, and appends only what is missing.
 */
import { hourMs } from '../../../schemas/durations.js';
import type { ErasureRecord } from '../../../schemas/json/erasure.js';
import type { ReadModel } from '../../catalog/store/read-model.js';
import type { ConfigurationWriter } from '../../catalog/types.js';
import type { SecretCipher } from '../../encryption.js';
import type { DeliveryQueue } from '../../ports.js';
import { createSweeper, type Sweeper, type TakeLease } from '../../sweeper.js';
import { type CommanderParts, commandOf, commandsOf, createCommander } from './commands.js';
import { type Erased, erasePending } from './pending.js';
import { createProgress, type Progress, type ProgressParts } from './progress.js';
import { createRows, type Rows, type RowsParts } from './rows.js';
import { type Batch, ErasureSchedule, isWhole, type ScheduleTiming } from './schedule.js';
import { allTables } from './statements.js';

export interface EraserParts extends Omit<RowsParts, 'ending'>, Pick<ProgressParts, 'positions'> {
  readonly readModel: Pick<ReadModel, 'allErasures' | 'bases' | 'project' | 'recordsOf'>;
  readonly writer: Pick<ConfigurationWriter, 'write' | 'catchUp'>;
  readonly takeLease: TakeLease;
  readonly log: CommanderParts['log'] & ProgressParts['log'];
  readonly states: CommanderParts['states'] & ProgressParts['states'];
  readonly deliveries: ProgressParts['deliveries'] & Pick<DeliveryQueue, 'waiting' | 'webhooks' | 'erase'>;
  readonly secretCipher: SecretCipher;
  readonly keepMs: ScheduleTiming['keepMs'];
  readonly clock: () => number;
  /** Called when a pass failed. It is repeated. The message names no user. */
  readonly onProblem: (error: unknown) => void;
  readonly timing?: Partial<EraserTiming>;
}

export interface EraserTiming extends Omit<ScheduleTiming, 'keepMs'> {
  /** How long the last pass waits for the stages before it is put off. */
  readonly patienceMs: number;
}

const defaultTiming: EraserTiming = {
  intervalMs: 1_000,
  graceMs: 15_000,
  recheckMs: hourMs,
  patienceMs: 10_000,
  retryMs: 10_000,
  maxRetryMs: 5 * 60 * 1_000,
};

/** What ends with a sweep, or works in it. */
interface RunningSweep {
  readonly rows: Rows;
  readonly progress: Progress;
  readonly ending: AbortSignal;
}

/** Records of a deleted project in one write, and writes of one pass: other erasures have their turn in between. */
const maxDeletedAtOnce = 1_000;
const maxWritesPerPass = 50;

/** Creates the eraser. It does nothing before `start`, and never rejects. */
export function createEraser(parts: EraserParts): Sweeper {
  const { readModel, writer, log, deliveries, secretCipher, clock, onProblem } = parts;
  const timing = { ...defaultTiming, ...parts.timing };
  const schedule = new ErasureSchedule({ ...timing, keepMs: parts.keepMs });

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

  async function erase(batch: Batch, sweep: RunningSweep): Promise<void> {
    const old = batch.records.filter((record) => schedule.isForgotten(record, clock()));
    if (old.length > 0) return write(old.map(({ _id }) => ({ id: _id, record: null })));
    // The others get their first pass, or one that looks for rows that were written again.
    const last = batch.records.filter((record) => schedule.isLastPass(record, clock()));
    const [record] = batch.records;
    const isComplete =
      record !== undefined && isWhole(record)
        ? await passWhole(record, last.length > 0, sweep)
        : await pass(batch, last, sweep);
    if (last.length > 0 && isComplete) {
      const completedAt = clock();
      await write(
        last.map((record) => ({ id: record._id, record: { ...record, completedAt, updatedAt: completedAt } })),
      );
    }
    for (const record of batch.records) schedule.planNext(record, isComplete && last.includes(record), clock());
  }

  async function write(changes: { readonly id: string; readonly record: ErasureRecord | null }[]): Promise<void> {
    await writer.catchUp();
    await writer.write(
      changes.map((change) => ({ ...change, kind: 'erasure', bases: readModel.bases('erasure', change.id) })),
    );
  }

  /**
   * Runs all steps once. Returns whether nothing is pending any more; without `last`, the erasures whose last pass it
   * is, always true.
   */
  async function pass(
    batch: Batch,
    last: readonly ErasureRecord[],
    { rows, progress }: RunningSweep,
  ): Promise<boolean> {
    const waits = last.length > 0;
    if (waits && !(await progress.isEverythingStored())) return false;
    const users = targetsOf(batch.records, 'user');
    // Devices are found by their rows. A row of another erasure that comes after the query must stay for its last pass:
    // without it the state of its device would never be found.
    const complete = targetsOf(
      batch.records.filter((record) => record.completedAt !== null || last.includes(record)),
      'user',
    );
    const events = targetsOf(batch.records, 'event').map(({ name }) => name);
    const ids = new Set<string>();
    const names = new Map(users.map(({ name, receivedBy }) => [name, receivedBy]));

    // The topic has the commands of a completed erasure, and a stage that reads it again applies them again.
    const running = users.filter(({ completedAt }) => completedAt === null);
    const commander = createCommander(parts, (erasure) => last.some(({ _id }) => _id === erasure));
    for (const id of await commander.append(running.map((user) => commandOf(batch, user, user.name)))) ids.add(id);
    for await (const found of rows.findUsers(batch, users)) {
      for (const { user } of found) ids.add(user);
      for (const id of await commander.append(commandsOf(batch, running, found))) ids.add(id);
    }
    if (waits && !(await progress.areEvaluated(await commander.ends()))) return false;
    if (waits && !(await progress.areEventsQueued())) return false;
    ids.delete('');
    const erased: Erased = { ...batch, users: ids, names, events: new Set(events) };
    await erasePending(log, deliveries, erased);
    if (waits && !(await progress.isSinkAtEnd())) return false;
    for await (const found of rows.findUsers(batch, complete)) for (const { user } of found) ids.add(user);
    ids.delete('');
    return rows.erase(batch, complete, [...ids], events);
  }

  /** Erases an environment of a deleted project. Returns whether all of it is gone and nothing is on its way. */
  async function passWhole(record: ErasureRecord, waits: boolean, sweep: RunningSweep): Promise<boolean> {
    const { rows, progress, ending } = sweep;
    // Before the rows: webhooks end with their records, and imports write no more.
    if (!(await deleteRecords(record, ending))) return false;
    if (waits && !(await progress.isEverythingStored())) return false;
    const isKnown = waits || record.completedAt !== null;
    const receivedBy = clock();
    const commander = createCommander(parts, () => isKnown);
    for await (const devices of rows.findDevices(record))
      await commander.append(devices.map((name) => commandOf(record, { _id: record._id, name, receivedBy }, name)));
    if (waits && !(await progress.areEvaluated(await commander.ends()))) return false;
    // Devices are found by their rows in users: as in `pass`.
    return rows.eraseAll(
      record,
      allTables.filter((table) => isKnown || table !== 'users'),
    );
  }

  /** Deletes the configuration of an environment. Returns whether nothing is left of it. */
  async function deleteRecords(whole: ErasureRecord, ending: AbortSignal): Promise<boolean> {
    const isOther = ({ project, environment, subject }: ErasureRecord): boolean =>
      project === whole.project && environment === whole.environment && subject !== 'project';
    for (let writes = 0; ; writes++) {
      await writer.catchUp();
      const records = [
        ...readModel.recordsOf(whole, maxDeletedAtOnce),
        ...readModel.allErasures().flatMap((each) => (isOther(each) ? { kind: 'erasure' as const, id: each._id } : [])),
      ];
      if (records.length === 0) return true;
      if (writes === maxWritesPerPass || ending.aborted) return false;
      await writer.write(
        records
          .slice(0, maxDeletedAtOnce)
          .map(({ kind, id }) => ({ kind, id, record: null, bases: readModel.bases(kind, id) })),
      );
    }
  }

  const targetsOf = (records: readonly ErasureRecord[], subject: ErasureRecord['subject']) =>
    records
      .filter((record) => record.subject === subject)
      .map((record) => ({
        ...record,
        name: secretCipher.decrypt(record.target, record._id),
        receivedBy: record.createdAt,
      }));

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
