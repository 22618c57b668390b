/** Alerts of the location stage for operators, and its metrics. No alert ends the stage. */
import { type LogRecord, topics } from '../../ports.js';
import { describeDivergence } from '../../positions.js';
import type { DeadLetterReason } from '../../records/decode.js';
import type { HaltedPartition, TooManyDeadLetters } from '../breaker.js';
import type { ClaimAlerts } from '../claimed-partitions.js';
import type { Metrics } from '../metrics.js';
import type { Effects } from './evaluate-batch.js';

export type LocationStageAlert =
  /** A commit was refused; the partition was claimed again and the batch evaluated again. */
  | { readonly kind: 'fenced'; readonly partition: number; readonly nextOffset: number }
  /** `count` records of a batch were dead-lettered; the other fields describe the latest. */
  | {
      readonly kind: 'dead_letters';
      readonly partition: number;
      readonly count: number;
      readonly offset: number;
      readonly reason: DeadLetterReason;
      readonly message: string;
    }
  /** The partition is halted until it is assigned again; others continue. */
  | ({ readonly kind: 'halted' } & HaltedPartition)
  /**
   * The partition's log is not the one that was read before. The partition is halted until its position is repaired;
   * others continue.
   */
  | { readonly kind: 'diverged'; readonly partition: number; readonly message: string }
  /** The store fell back to an older state. The partition was claimed again, and lost locations are applied again. */
  | { readonly kind: 'fallen_back'; readonly partition: number; readonly nextOffset: number };

interface AlertsParts {
  readonly metrics: Metrics;
  readonly onAlert: (alert: LocationStageAlert) => void;
  readonly clock: () => number;
}

export interface Alerts extends ClaimAlerts {
  committed(records: readonly LogRecord[], effects: Effects, startedAtMs: number): void;
  halted(partition: number, cause: TooManyDeadLetters): void;
}

/** Counts things by label, so that a metric is added to once per batch: adding is more expensive than counting. */
function countBy<T>(things: readonly T[], labelOf: (thing: T) => string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const thing of things) counts.set(labelOf(thing), (counts.get(labelOf(thing)) ?? 0) + 1);
  return counts;
}

export function createAlerts({ metrics, onAlert, clock }: AlertsParts): Alerts {
  return {
    committed(records, { results, events, notEntered, deadLetters }, startedAtMs) {
      const nowMs = clock();
      metrics.observe('location_batch_records', records.length);
      metrics.observe('location_batch_seconds', (nowMs - startedAtMs) / 1_000);
      metrics.observe('location_lag_seconds', (nowMs - (records[0] as LogRecord).timestamp) / 1_000);
      for (const [result, count] of Object.entries(results)) {
        if (count > 0) metrics.add('locations_evaluated_total', count, result);
      }
      for (const [type, count] of countBy(events, (event) => event.type))
        metrics.add('events_generated_total', count, type);
      if (notEntered > 0) metrics.add('visits_not_entered_total', notEntered);
      for (const [reason, count] of countBy(deadLetters, (bad) => bad.reason))
        metrics.add('dead_letters_total', count, reason);

      const latest = deadLetters.at(-1);
      if (latest === undefined) return;
      const { record, reason, message } = latest;
      const { partition, offset } = record;
      onAlert({ kind: 'dead_letters', partition, count: deadLetters.length, offset, reason, message });
    },
    lost(partition, loss, nextOffset) {
      metrics.add('location_partitions_fenced_total', 1);
      onAlert({ kind: loss === 'claimed' ? 'fenced' : loss, partition, nextOffset });
    },
    halted(partition, cause) {
      metrics.add('partitions_halted_total', 1, topics.locations);
      onAlert({ kind: 'halted', topic: topics.locations, partition, ...cause });
    },
    diverged(divergence) {
      metrics.add('partitions_diverged', 1, divergence.topic);
      onAlert({ kind: 'diverged', partition: divergence.partition, message: describeDivergence(divergence) });
    },
    noLongerDiverged({ topic }) {
      metrics.add('partitions_diverged', -1, topic);
    },
  };
}
