/**
 * What the stages count and measure, each with a sentence. The process that runs them gives an implementation of {@link
 * Metrics} and makes its registry from {@link stageMetrics}; the stages know no metrics library.
 */

interface MetricDefinition {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** The one label that tells values apart, if any. */
  readonly label?: string;
  /** Upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[];
}

const countBuckets = [1, 10, 100, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000] as const;
const durationBucketsMs = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000] as const;
const lagBucketsMs = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 60_000] as const;

export const stageMetrics = {
  locations_evaluated_total: {
    kind: 'counter',
    label: 'result',
    help: 'Locations whose outcome is committed, by result: applied, repeat or stale.',
  },
  events_generated_total: { kind: 'counter', label: 'type', help: 'Events that committed locations caused, by type.' },
  visits_not_entered_total: {
    kind: 'counter',
    help: 'Geofences and beacons that locations did not enter because their users were inside of as many as they can be.',
  },
  dead_letters_total: { kind: 'counter', label: 'reason', help: 'Records that could not be evaluated, by reason.' },
  partitions_halted_total: {
    kind: 'counter',
    label: 'topic',
    help: 'Partitions given up because they held little but dead letters, by topic; each stands still until this process is started anew.',
  },
  partitions_diverged: {
    kind: 'gauge',
    label: 'topic',
    help: 'Partitions that stand still because the log is not the one that was read before, by topic; "fenceline repair positions" moves their positions.',
  },
  location_partitions_fenced_total: {
    kind: 'counter',
    help: 'Batches refused because another owner had claimed the partition; each was evaluated again.',
  },
  location_batch_records: { kind: 'histogram', help: 'Records per evaluated batch.', buckets: countBuckets },
  location_batch_ms: {
    kind: 'histogram',
    help: 'Milliseconds from a batch being handed over to its commit.',
    buckets: durationBucketsMs,
  },
  location_lag_ms: {
    kind: 'histogram',
    help: 'Milliseconds from the append of the oldest location of a batch to its commit.',
    buckets: lagBucketsMs,
  },
  analytics_rows_total: {
    kind: 'counter',
    label: 'table',
    help: 'Rows stored for analytics, by table; repeats included.',
  },
  analytics_insert_ms: {
    kind: 'histogram',
    help: 'Milliseconds per insert for analytics.',
    buckets: durationBucketsMs,
  },
  analytics_lag_ms: {
    kind: 'histogram',
    help: 'Milliseconds from the append of the oldest record of an insert until it can be queried.',
    buckets: lagBucketsMs,
  },
  webhook_deliveries_total: {
    kind: 'counter',
    help: 'Deliveries queued: requests that webhooks are to get, each once.',
  },
  webhook_deliveries_replaced_total: {
    kind: 'counter',
    help: 'Waiting deliveries that were removed unsent, because the same delivery was asked for again.',
  },
  webhook_attempts_total: {
    kind: 'counter',
    label: 'result',
    help: 'Tries to deliver that are on record, by result: delivered, refused, timed_out and so on.',
  },
  webhook_attempt_ms: {
    kind: 'histogram',
    help: 'Milliseconds of one request to a webhook, from resolving the name to the answer.',
    buckets: lagBucketsMs,
  },
  webhook_lag_ms: {
    kind: 'histogram',
    help: 'Milliseconds from the append of an event to the start of its first request to a webhook.',
    buckets: lagBucketsMs,
  },
  webhooks_disabled_total: {
    kind: 'counter',
    label: 'reason',
    help: 'Webhooks that were disabled, by reason: gone or failing.',
  },
  webhook_partitions_fenced_total: {
    kind: 'counter',
    help: 'Changes of delivery queues refused because another owner had claimed the partition; each was claimed again.',
  },
} as const satisfies Record<string, MetricDefinition>;

type NamesOf<Kind> = {
  [Name in keyof typeof stageMetrics]: (typeof stageMetrics)[Name]['kind'] extends Kind ? Name : never;
}[keyof typeof stageMetrics];

export type CounterName = NamesOf<'counter' | 'gauge'>;
export type HistogramName = NamesOf<'histogram'>;

/** Where the stages' numbers go. `label` is the value of the metric's one label. */
export interface Metrics {
  /** The amount may be negative for a gauge. */
  add(counter: CounterName, amount: number, label?: string): void;
  observe(histogram: HistogramName, value: number): void;
}

/** For runs that nobody watches. */
export const noMetrics: Metrics = { add() {}, observe() {} };
