/** The metrics of ingest. The process implements {@link IngestMetrics} with its metrics library. */
import type { MetricDefinition } from '../schemas/metric-definition.js';

/** Metrics of ingestion, with their help texts. */
export const ingestMetrics = {
  locations_accepted_total: {
    kind: 'counter',
    label: 'endpoint',
    values: ['track', 'replay', 'bulk'],
    help: 'Locations that became durable, by endpoint: track, replay or bulk.',
  },
  locations_rejected_total: {
    kind: 'counter',
    label: 'endpoint',
    help: 'Locations that broke a rule and were rejected, by endpoint.',
  },
  ingest_overloaded_total: {
    kind: 'counter',
    label: 'endpoint',
    help: 'Requests with locations that were refused because too much was in flight, or the log accepted none.',
  },
  ingest_in_flight_records: {
    kind: 'gauge',
    help: 'Received locations that are not durable yet. Beyond ingest.maxInFlightRecords, requests are refused.',
  },
  track_replies_timed_out_total: {
    kind: 'counter',
    help: 'Track answers that were sent without their events, because the outcome took too long.',
  },
} as const satisfies Record<string, MetricDefinition>;

/** Receives the metrics of {@link ingestMetrics}. `label` is the value of the metric's label. */
export interface IngestMetrics {
  /** Adds to a counter, or changes a gauge by an amount that may be negative. */
  add(metric: keyof typeof ingestMetrics, amount: number, label?: string): void;
}
