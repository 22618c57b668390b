/**
 * The analytics sink: everything that happened, queryable within about a second.
 *
 * Flows in: topics `outcomes`, `events`, `attempts`, `rejections` and `dead-letters`. Flows out: rows of tables
 * `locations`, `users`, `events`, `webhook_attempts` and `rejections`, each at least once; repeats replace each other
 * by key, so queries use FINAL. May import: schemas, the ports.
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

/** Nothing grows past these. */
export interface AnalyticsSinkBounds {
  /** Rows per insert; twice as many wait at most. More are cheaper by the row and cost memory. */
  readonly maxRows: number;
  /** The longest that a row waits for others. */
  readonly maxDelayMs: number;
  /** How often the rows of many active users are written. */
  readonly usersEveryMs: number;
  /** Of the latest records of a partition; past it the partition is halted. */
  readonly maxDeadLetterShare: number;
}

export const defaultAnalyticsSinkBounds: AnalyticsSinkBounds = {
  maxRows: 30_000,
  maxDelayMs: 1_000,
  usersEveryMs: 5_000,
  maxDeadLetterShare: defaultMaxDeadLetterShare,
};

/** Records per hand-over of one partition. */
const maxBatchRecords = 5_000;

export interface AnalyticsSinkParts {
  readonly log: Log;
  readonly positions: Positions;
  /** With the tables of `migrate` in it. */
  readonly analytics: Analytics;
  /** Epoch milliseconds. */
  readonly clock: () => number;
  readonly metrics?: Metrics;
  /**
   * Told of a partition that yields mostly dead letters: it stands still until it is assigned anew; the others go on.
   */
  readonly onHalted?: (halted: HaltedPartition) => void;
  /** Told of a partition that is not the log that was read before: it stands still until its position is repaired. */
  readonly onDiverged?: (message: string) => void;
  readonly bounds?: Partial<AnalyticsSinkBounds>;
  readonly codecs?: Codecs;
}

/** The consumers that share the partitions of the sink's topics. */
export const analyticsSinkGroup = 'analytics-sink';

/** Starts the sink. `done` rejects on anything unexpected. Closing stores what waits. */
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
  const follow = <T extends object>(topic: Topic, codec: Codec<T>, tables: Tables<T>): Subscription => {
    const handler = new TopicSink({ ...shared, topic, codec, tables });
    return log.consume({ topic, group: analyticsSinkGroup, handler, maxBatchRecords, maxWaitMs: 0 });
  };
  const rows = <T extends object>(table: string, columns: readonly string[], row: (value: T) => string | undefined) =>
    new RowTable({ ...tableParts, table, columns, row });
  const subscriptions = [
    follow(
      topics.outcomes,
      codecs.outcome,
      new OutcomeTables({ ...tableParts, codec: codecs.outcome, usersEveryMs: bounds.usersEveryMs }),
    ),
    follow(topics.events, codecs.event, rows('events', eventColumns, eventRow)),
    follow(topics.attempts, codecs.attempt, rows('webhook_attempts', attemptColumns, attemptRow)),
    follow(topics.rejections, codecs.rejection, rows('rejections', rejectionColumns, rejectionRow)),
    follow(topics.deadLetters, codecs.deadLetter, rows('rejections', rejectionColumns, deadLetterRow)),
  ];
  return {
    async close() {
      await Promise.all(subscriptions.map((subscription) => subscription.close()));
    },
    done: Promise.race([failure, Promise.all(subscriptions.map(({ done }) => done)).then(() => {})]),
  };
}
