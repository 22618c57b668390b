/**
 * Metrics of the stages, each with its help text. The process that runs the stages implements {@link Metrics} and
 * builds its registry from {@link stageMetrics}; the stages don't depend on a metrics library.
 */
import type { MetricDefinition } from '../../schemas/metric-definition.js';

const countBuckets = [1, 10, 100, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000] as const;
const durationBucketsS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5] as const;
const lagBucketsS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

/** All metrics of the stages by name. */
export const stageMetrics = {
  locations_evaluated_total: {
    kind: 'counter',
    label: 'result',
    values: ['applied', 'repeat', 'stale'],
    help: 'Evaluated locations by result: applied, repeat or stale.',
  },
  events_generated_total: { kind: 'counter', label: 'type', help: 'Events generated, by type.' },
  visits_not_entered_total: {
    kind: 'counter',
    help: 'Geofences and beacons not entered because the user was inside the maximum number already.',
  },
  dead_letters_total: { kind: 'counter', label: 'reason', help: 'Records that could not be evaluated, by reason.' },
  partitions_halted_total: {
    kind: 'counter',
    label: 'topic',
    help: 'Partitions halted because of too many dead letters, by topic. Each is halted until the process restarts.',
  },
  partitions_diverged: {
    kind: 'gauge',
    label: 'topic',
    help:
      'Partitions halted because the log is not the one that was read before, by topic. ' +
      'The command "fenceline repair positions" repairs their positions.',
  },
  records_expired_total: {
    kind: 'counter',
    label: 'topic',
    help: 'Records that retention removed before a stage had read them, by topic. They are lost.',
  },
  location_partitions_fenced_total: {
    kind: 'counter',
    help: 'Batches whose commit was refused because another owner had claimed the partition. Each was evaluated again.',
  },
  location_batch_records: { kind: 'histogram', help: 'Records per evaluated batch.', buckets: countBuckets },
  location_batch_seconds: {
    kind: 'histogram',
    help: 'Time from receiving a batch to its commit.',
    buckets: durationBucketsS,
  },
  location_lag_seconds: {
    kind: 'histogram',
    help: 'Time from the append of the oldest location of a batch to its commit.',
    buckets: lagBucketsS,
  },
  analytics_rows_total: {
    kind: 'counter',
    label: 'table',
    values: ['locations', 'users', 'events', 'webhook_attempts', 'rejections'],
    help: 'Rows inserted for analytics, by table, including duplicates.',
  },
  analytics_insert_seconds: {
    kind: 'histogram',
    help: 'Time of one analytics insert.',
    buckets: durationBucketsS,
  },
  analytics_lag_seconds: {
    kind: 'histogram',
    help: 'Time from the append of the oldest record of an insert until it can be queried.',
    buckets: lagBucketsS,
  },
  webhook_deliveries_total: {
    kind: 'counter',
    help: 'Deliveries queued.',
  },
  webhook_deliveries_replaced_total: {
    kind: 'counter',
    help: 'Queued deliveries removed because a redelivery replaced them.',
  },
  webhook_attempts_total: {
    kind: 'counter',
    label: 'result',
    help: 'Recorded delivery attempts by result: delivered, refused, timed_out and so on.',
  },
  webhook_attempt_seconds: {
    kind: 'histogram',
    help: 'Time of one request to a webhook, from name resolution to response.',
    buckets: lagBucketsS,
  },
  webhook_lag_seconds: {
    kind: 'histogram',
    help: 'Time from the append of an event to the start of its first request to a webhook.',
    buckets: lagBucketsS,
  },
  webhooks_disabled_total: {
    kind: 'counter',
    label: 'reason',
    help: 'Webhooks disabled, by reason: gone or failing.',
  },
  webhook_partitions_fenced_total: {
    kind: 'counter',
    help: 'Writes to delivery queues refused because another owner had claimed the partition, which was claimed again.',
  },
} as const satisfies Record<string, MetricDefinition>;

type NamesOf<Kind> = {
  [Name in keyof typeof stageMetrics]: (typeof stageMetrics)[Name]['kind'] extends Kind ? Name : never;
}[keyof typeof stageMetrics];

/** Names of the counters and gauges. */
export type CounterName = NamesOf<'counter' | 'gauge'>;
type HistogramName = NamesOf<'histogram'>;

/** Receives the stages' metrics. `label` is the value of the metric's label. */
export interface Metrics {
  /** The amount may be negative for a gauge. */
  add(counter: CounterName, amount: number, label?: string): void;
  observe(histogram: HistogramName, value: number): void;
}

/** Discards all metrics. */
export const noMetrics: Metrics = { add() {}, observe() {} };
