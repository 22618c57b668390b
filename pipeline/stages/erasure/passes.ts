/**
 * One pass of erasures over commands, pending deliveries and rows; of a deleted project also over its configuration.
 *
 * The first pass commands every device that it finds, because locations that are not evaluated yet may create a state.
 * Later passes run when all of these are evaluated, so the states tell which devices still need a command. A first pass
 * that failed is therefore not repeated: the last one does the same, and appends only what is missing.
 *
 * A pass with commands waits until they are applied, and until what came before them is stored, before it deletes.
 * Until then locations continue an erased record, which nothing but the rows of its past identifies.
 */
import type { ErasureRecord } from '../../../schemas/json/erasure.js';
import { isSameScope } from '../../catalog/scope.js';
import type { ReadModel } from '../../catalog/store/read-model.js';
import type { ConfigurationWriter } from '../../catalog/types.js';
import type { SecretCipher } from '../../encryption.js';
import type { DeliveryQueue, Log } from '../../ports.js';
import { erasedName } from '../../records/erased-name.js';
import { coveredUntil, erasedTimes } from '../../records/erasure-command.js';
import { type CommanderParts, commandOf, commandsOf, createCommander } from './commands.js';
import { erasePending } from './pending.js';
import type { Progress } from './progress.js';
import type { Rows } from './rows.js';
import type { Batch } from './schedule.js';
import { allTables, type FoundUser } from './statements.js';

/** What a pass works with. */
export interface PassParts {
  readonly readModel: Pick<ReadModel, 'allErasures' | 'bases' | 'record' | 'recordsOf'>;
  readonly writer: Pick<ConfigurationWriter, 'write' | 'catchUp'>;
  readonly log: CommanderParts['log'] & Pick<Log, 'partitions'>;
  readonly states: CommanderParts['states'];
  readonly deliveries: Pick<DeliveryQueue, 'waiting' | 'webhooks' | 'erase'>;
  readonly secretCipher: SecretCipher;
  /** Epoch ms. */
  readonly clock: () => number;
  /** What is received further ahead of the clock was received before a correction of the clock. */
  readonly clockGraceMs: number;
}

/** What ends with a sweep, or works in it. */
export interface RunningSweep {
  readonly rows: Rows;
  readonly progress: Progress;
  readonly ending: AbortSignal;
}

/** Records of a deleted project in one write, and writes of one pass: other erasures have their turn in between. */
const maxDeletedAtOnce = 1_000;
const maxWritesPerPass = 50;

interface Passes {
  /**
   * Runs all steps once. `last` are the erasures whose last pass it is. Returns whether nothing is pending any more.
   * While the stages are behind it deletes no rows of users whose erasure is not complete.
   */
  pass(batch: Batch, last: readonly ErasureRecord[], sweep: RunningSweep): Promise<boolean>;
  /**
   * Erases an environment of a deleted project. Returns whether all of it is gone and nothing is on its way; unless it
   * is the last pass, of what was received by now.
   */
  passWhole(record: ErasureRecord, isLast: boolean, sweep: RunningSweep): Promise<boolean>;
}

/** Creates the passes. Every step can be repeated, so a crash does no harm. */
export function createPasses(parts: PassParts): Passes {
  const { readModel, writer, secretCipher, clock, clockGraceMs } = parts;

  async function pass(
    batch: Batch,
    last: readonly ErasureRecord[],
    { rows, progress }: RunningSweep,
  ): Promise<boolean> {
    const isLast = last.length > 0;
    if (isLast && !(await progress.isEverythingStored())) return false;
    const isOfLast = (erasure: string): boolean => last.some(({ _id }) => _id === erasure);
    const users = targetsOf(batch.records, 'user');
    // The topic has the commands of a completed erasure, and a stage that reads it again applies them again.
    const running = users.filter(({ completedAt }) => completedAt === null);
    // Devices are found by their rows. A row of another erasure that comes after the query must stay for its last pass:
    // without it the state of its device would never be found.
    const complete = users.filter(({ _id, completedAt }) => completedAt !== null || isOfLast(_id));
    const events = targetsOf(batch.records, 'event').map(({ name }) => name);
    const ids = new Set<string>();
    const names = new Map(users.map((user) => [user.name, user]));
    const noteUsers = (found: readonly FoundUser[]): void => {
      for (const { user } of found) if (user !== '') ids.add(user);
    };

    const commander = createCommander(parts, isOfLast);
    for (const id of await commander.append(running.map((user) => commandOf(batch, user, user.name)))) ids.add(id);
    for await (const found of rows.findUsers(batch, users)) {
      noteUsers(found);
      for (const id of await commander.append(commandsOf(batch, running, found))) ids.add(id);
    }
    // Erasures that are complete command nothing: rows that were written again are deleted at once.
    const mustCatchUp = isLast || running.length > 0;
    if (mustCatchUp && !(await progress.areEvaluated(await commander.ends()))) return false;
    if (mustCatchUp && !(await progress.areEventsQueued())) return false;
    await erasePending(parts, { ...batch, users: ids, names, events: new Set(events) });
    if (mustCatchUp && !(await progress.isSinkAtEnd())) return false;
    for await (const found of rows.findUsers(batch, complete)) noteUsers(found);
    return rows.erase(batch, complete, [...ids], events);
  }

  async function passWhole(record: ErasureRecord, isLast: boolean, sweep: RunningSweep): Promise<boolean> {
    const { rows, progress, ending } = sweep;
    // Before the rows: then imports write no more.
    if (!(await deleteRecords(record, ending))) return false;
    if (isLast && !(await progress.isEverythingStored())) return false;
    const isKnown = isLast || record.completedAt !== null;
    const times = timesOf(clock());
    const commander = createCommander(parts, () => isKnown);
    for await (const devices of rows.findDevices(record))
      await commander.append(devices.map((name) => commandOf(record, { _id: record._id, name, ...times }, name)));
    if (isLast && !(await progress.areEvaluated(await commander.ends()))) return false;
    // Devices are found by their rows in users: as in `pass`.
    return rows.eraseAll(
      record,
      allTables.filter((table) => isKnown || table !== 'users'),
    );
  }

  /** Deletes the configuration of an environment. Returns whether nothing is left of it. */
  async function deleteRecords(whole: ErasureRecord, ending: AbortSignal): Promise<boolean> {
    const isOther = (record: ErasureRecord): boolean => isSameScope(record, whole) && record.subject !== 'project';
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
      .flatMap((record) => {
        const name = erasedName(record, secretCipher);
        // Of a complete erasure: rows that come again are found no more.
        return name === undefined ? [] : { ...record, name, ...timesOf(coveredUntil(record, clock())) };
      });

  const timesOf = (receivedBy: number) => erasedTimes(receivedBy, clock(), clockGraceMs);

  return { pass, passWhole };
}
