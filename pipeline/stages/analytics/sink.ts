/**
 * The analytics sink: makes everything queryable within about a second.
 *
 * Input: topics `outcomes`, `events`, `attempts`, `rejections` and `dead-letters`. Output: rows of tables `locations`,
 * `users`, `events`, `webhook_attempts` and `rejections`, each at least once. Duplicates replace each other by key, so
 * queries use FINAL. May import: schemas, ports.
 */
import { type Codec, type Codecs, codecs as fixedCodecs } from '../../../schemas/codecs.js';
import {
  attemptColumns,
  attemptRow,
  eventColumns,
  eventRow,
  rejectionColumns,
  rejectionRow,
} from '../../../schemas/table-rows.js';
import { type Analytics, type Log, type Positions, type Subscription, type Topic, topics } from '../../ports.js';
import { defaultMaxDeadLetterShare, type HaltedPartition } from '../breaker.js';
import { type Metrics, noMetrics } from '../metrics.js';
import { deadLetterRow } from './rejection-rows.js';
import { OutcomeTables, RowTable } from './tables.js';
import { type Tables, TopicSink } from './topic-sink.js';

/** Bounds of the sink. */
export interface AnalyticsSinkBounds {
  /** Rows per insert; at most twice as many are buffered. More rows are cheaper each and cost memory. */
  readonly maxRows: number;
  /** Maximum time that a row is buffered. */
  readonly maxDelayMs: number;
  /** How often user rows are written while many users are active. */
  readonly usersEveryMs: number;
  /** Maximum share of dead letters among the latest records of a partition; beyond it the partition is halted. */
  readonly maxDeadLetterShare: number;
}

export const defaultAnalyticsSinkBounds: AnalyticsSinkBounds = {
  maxRows: 30_000,
  maxDelayMs: 1_000,
  usersEveryMs: 5_000,
  maxDeadLetterShare: defaultMaxDeadLetterShare,
};

/** Records per batch of one partition. */
const maxBatchRecords = 5_000;

export interface AnalyticsSinkParts {
  readonly log: Log;
  readonly positions: Positions;
  /** The store, after `migrate`. */
  readonly analytics: Analytics;
  /** Epoch milliseconds. */
  readonly clock: () => number;
  readonly metrics?: Metrics;
  /**
   * Called when a partition has mostly dead letters: it is halted until it is assigned again; others continue.
   */
  readonly onHalted?: (halted: HaltedPartition) => void;
  /** Called when a partition's log is not the one that was read before: it is halted until its position is repaired. */
  readonly onDiverged?: (message: string) => void;
  readonly bounds?: Partial<AnalyticsSinkBounds>;
  readonly codecs?: Codecs;
}

/** Consumer group of the sink's topics. */
export const analyticsSinkGroup = 'analytics-sink';

/** Starts the sink. `done` rejects on anything unexpected. Closing stores buffered rows. */
export function createAnalyticsSink(parts: AnalyticsSinkParts): Subscription {
  const { log, positions, analytics, clock, metrics = noMetrics, codecs = fixedCodecs } = parts;
  const { onHalted = () => {}, onDiverged = () => {} } = parts;
  const bounds = { ...defaultAnalyticsSinkBounds, ...parts.bounds };
  let fail: (error: unknown) => void = () => {};
  const failure = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const shared = {
    log,
    positions,
    group: analyticsSinkGroup,
    deadLetterCodec: codecs.deadLetter,
    maxRows: bounds.maxRows,
    maxDelayMs: bounds.maxDelayMs,
    maxDeadLetterShare: bounds.maxDeadLetterShare,
    clock,
    metrics,
    onHalted,
    onDiverged,
    onFailure: fail,
  };
  const tableParts = { analytics, metrics, clock };
  const consume = <T extends object>(topic: Topic, codec: Codec<T>, tables: Tables<T>): Subscription => {
    const handler = new TopicSink({ ...shared, topic, codec, tables });
    return log.consume({ topic, group: analyticsSinkGroup, handler, maxBatchRecords, maxWaitMs: 0 });
  };
  const rows = <T extends object>(table: string, columns: readonly string[], row: (value: T) => string | undefined) =>
    new RowTable({ ...tableParts, table, columns, row });
  const subscriptions = [
    consume(
      topics.outcomes,
      codecs.outcome,
      new OutcomeTables({ ...tableParts, codec: codecs.outcome, usersEveryMs: bounds.usersEveryMs }),
    ),
    consume(topics.events, codecs.event, rows('events', eventColumns, eventRow)),
    consume(topics.attempts, codecs.attempt, rows('webhook_attempts', attemptColumns, attemptRow)),
    consume(topics.rejections, codecs.rejection, rows('rejections', rejectionColumns, rejectionRow)),
    consume(topics.deadLetters, codecs.deadLetter, rows('rejections', rejectionColumns, deadLetterRow)),
  ];
  return {
    async close() {
      await Promise.all(subscriptions.map((subscription) => subscription.close()));
    },
    done: Promise.race([failure, Promise.all(subscriptions.map(({ done }) => done)).then(() => {})]),
  };
}
