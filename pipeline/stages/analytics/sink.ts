/**
 * The analytics sink: makes everything queryable within about a second.
 *
 * Input: topics `outcomes`, `events`, `attempts`, `rejections` and `dead-letters`. Output: rows of tables `locations`,
 * `users`, `events`, `webhook_attempts` and `rejections`, each at least once. Duplicates replace each other by key, so
 * queries use FINAL.
 */
import { type Codec, type Codecs, codecs as fixedCodecs } from '../../../schemas/codecs.js';
import type { Columns, Rows } from '../../../schemas/native.js';
import { OutcomeFrame } from '../../../schemas/outcome-frame.js';
import {
  addAttempt,
  addEvent,
  addRejection,
  newAttemptRows,
  newEventRows,
  newRejectionRows,
} from '../../../schemas/table-rows.js';
import { createFailure } from '../../failure.js';
import { type Analytics, type Log, type Positions, type Subscription, type Topic, topics } from '../../ports.js';
import { type Metrics, noMetrics } from '../metrics.js';
import type { PartitionAlert } from '../partition-alerts.js';
import { addDeadLetter } from './rejection-rows.js';
import { OutcomeTables, RowTable } from './tables.js';
import { type Tables, TopicSink } from './topic-sink.js';

/** Bounds without a setting. */
const fixedBounds = {
  /** Bytes per insert, with the effect of `maxRows`: a row of an attempt has a whole request, of up to a megabyte. */
  maxBytes: 64 * 2 ** 20,
  /** Many rows are stored this long after the latest: there would be no more of them after the maximum delay. */
  quietMs: 100,
  /** How often user rows are written while many users are active. */
  usersEveryMs: 5_000,
  /**
   * How long a closing sink lets failed inserts be repeated. A node should stop within a minute, and the next owner of
   * a partition reads again what was not stored.
   */
  giveUpAfterMs: 5_000,
};

/** Bounds of the sink. */
interface AnalyticsSinkBounds extends Partial<typeof fixedBounds> {
  /** Rows per insert; at most twice as many are buffered. More rows are cheaper each and cost memory. */
  readonly maxRows: number;
  /** Maximum time that a row is buffered. */
  readonly maxDelayMs: number;
  /** Maximum share of dead letters among the latest records of a partition; beyond it the partition is halted. */
  readonly maxDeadLetterShare: number;
}

/** Records per batch of one partition. */
const maxBatchRecords = 5_000;

/** What the sink uses. Closing the sink closes none of it. */
export interface AnalyticsSinkParts {
  readonly log: Log;
  readonly positions: Positions;
  /** The store, after `migrate`. */
  readonly analytics: Analytics;
  /** Epoch milliseconds. */
  readonly clock: () => number;
  readonly metrics?: Metrics;
  readonly onAlert?: (alert: PartitionAlert) => void;
  readonly bounds: AnalyticsSinkBounds;
  readonly codecs?: Codecs;
}

/** Consumer group of the sink's topics. */
export const analyticsSinkGroup = 'analytics-sink';

/**
 * Starts the sink. `done` rejects on anything unexpected. Closing stores buffered rows, and gives up after some seconds
 * if that fails.
 */
export function createAnalyticsSink(parts: AnalyticsSinkParts): Subscription {
  const { log, positions, analytics, clock, metrics = noMetrics, codecs = fixedCodecs, onAlert = () => {} } = parts;
  const bounds = { ...fixedBounds, ...parts.bounds };
  const { failed, fail } = createFailure();
  const closing = new AbortController();
  const shared = {
    ...bounds,
    log,
    positions,
    group: analyticsSinkGroup,
    deadLetterCodec: codecs.deadLetter,
    givingUp: closing.signal,
    clock,
    metrics,
    onAlert,
    onFailure: fail,
  };
  const tableParts = { analytics, givingUp: closing.signal, metrics, clock };
  const consume = <T extends object>(
    topic: Topic,
    codec: Pick<Codec<T>, 'decode'>,
    tables: Tables<T>,
  ): Subscription => {
    const handler = new TopicSink({ ...shared, topic, codec, tables });
    return log.consume({ topic, group: analyticsSinkGroup, handler, maxBatchRecords, maxWaitMs: 0 });
  };
  const filling = <T extends object, Table extends Columns>(
    table: string,
    rows: Rows<Table>,
    add: (rows: Rows<Table>, value: T) => void,
  ) => new RowTable({ ...tableParts, table, rows, add });
  const outcome = new OutcomeFrame();
  const subscriptions = [
    consume(
      topics.outcomes,
      { decode: (frame) => outcome.read(frame) },
      new OutcomeTables({ ...tableParts, codec: codecs.outcome, usersEveryMs: bounds.usersEveryMs }),
    ),
    consume(topics.events, codecs.event, filling('events', newEventRows(), addEvent)),
    consume(topics.attempts, codecs.attempt, filling('webhook_attempts', newAttemptRows(), addAttempt)),
    consume(topics.rejections, codecs.rejection, filling('rejections', newRejectionRows(), addRejection)),
    consume(topics.deadLetters, codecs.deadLetter, filling('rejections', newRejectionRows(), addDeadLetter)),
  ];
  return {
    async close() {
      const timer = setTimeout(() => closing.abort(), bounds.giveUpAfterMs);
      await Promise.all(subscriptions.map((subscription) => subscription.close()));
      clearTimeout(timer);
    },
    done: Promise.race([failed, Promise.all(subscriptions.map(({ done }) => done)).then(() => {})]),
  };
}
