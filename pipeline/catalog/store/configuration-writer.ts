/** Appends edits to topic `changes`, and waits until the read model of this process has applied them. */
import { PortError } from '../../errors.js';
import { type Log, topics } from '../../ports.js';
import { withinMs } from '../../time-limit.js';
import type { EditOutcome, EncodedChange, EncodedWriter } from '../types.js';
import { changesPartition, encodeEdit } from './append-change.js';
import type { ReadModel } from './read-model.js';

const unavailable = (reason: string) => (): Error => new PortError('unavailable', reason, { retryAfterS: 5 });
const lagging = unavailable('this node lags behind the configuration');
const unanswered = unavailable('the log does not answer');

/**
 * Creates a function that resolves when the read model has applied all records that topic `changes` had at the call.
 * @param parts.limitMs time for the log to answer, and then for the read model, after which it rejects as
 * `unavailable`; default none.
 */
export function createCatchUp({
  log,
  readModel,
  limitMs,
}: {
  readonly log: Pick<Log, 'end'>;
  readonly readModel: Pick<ReadModel, 'waitFor'>;
  readonly limitMs?: number | undefined;
}): () => Promise<void> {
  return async () => {
    const end = await withinMs(limitMs, log.end(topics.changes, changesPartition), unanswered);
    const late = new AbortController();
    try {
      await withinMs(limitMs, readModel.waitFor(end, late.signal), lagging);
    } finally {
      late.abort();
    }
  };
}

/** Creates the function `nextTimestamp` of a writer. Its times are later than those of all applied changes. */
export function createTimestamps(readModel: Pick<ReadModel, 'latestTimestamp'>, clock: () => number): () => number {
  let latest = 0;
  return () => {
    latest = Math.max(clock(), latest + 1, readModel.latestTimestamp + 1);
    return latest;
  };
}

/** Creates the writer. `readModel` must be the instance that `followChanges` applies to. */
export function createConfigurationWriter({
  log,
  readModel,
  clock = Date.now,
  limitMs,
}: {
  log: Log;
  readModel: ReadModel;
  clock?: () => number;
  /**
   * Time after an append or an answer of the log after which waiting for the read model fails as `unavailable`; the
   * appended changes may still be applied. Default none.
   */
  limitMs?: number;
}): EncodedWriter {
  async function writeEncoded(changes: readonly EncodedChange[]): Promise<readonly EditOutcome[]> {
    const outcomes = readModel.edits.outcomes(changes);
    try {
      const records = changes.map(({ record }) => record);
      const appended = log.append(topics.changes, records);
      await Promise.all([outcomes, appended.then(() => withinMs(limitMs, outcomes, lagging))]);
    } finally {
      readModel.edits.forget(changes);
    }
    return outcomes;
  }

  return {
    write: async (changes) => writeEncoded(changes.map((change) => encodeEdit(change, clock()))),
    writeEncoded,
    catchUp: createCatchUp({ log, readModel, limitMs }),
    nextTimestamp: createTimestamps(readModel, clock),
  };
}
