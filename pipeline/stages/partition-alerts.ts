/** Alerts about the partitions of a stage for operators, with their metrics. No alert ends the stage. */
import type { Topic } from '../ports.js';
import { describeDivergence, describeExpired } from '../positions.js';
import type { BadRecord, DeadLetterReason } from '../records/decode.js';
import type { TooManyDeadLetters } from './breaker.js';
import type { ClaimAlerts } from './claimed-partitions.js';
import type { CounterName, Metrics } from './metrics.js';

type Happening =
  /** Another owner had claimed the partition; this process claimed it again. */
  | { readonly kind: 'fenced'; readonly nextOffset: number }
  /** The store fell back to an older state. The partition was claimed again, and what is lost is done again. */
  | { readonly kind: 'fallen_back'; readonly nextOffset: number }
  /** `count` records of a batch were dead-lettered; the other fields describe the latest. */
  | {
      readonly kind: 'dead_letters';
      readonly count: number;
      readonly offset: number;
      readonly reason: DeadLetterReason;
      readonly message: string;
    }
  /** The partition is halted until it is assigned again. Others, and deliveries that are queued, continue. */
  | ({ readonly kind: 'halted' } & TooManyDeadLetters)
  /**
   * The partition's log is not the one that was read before. The partition is halted until its position is repaired.
   * Others, and deliveries that are queued, continue.
   */
  | { readonly kind: 'diverged'; readonly message: string }
  /** Retention removed records before they were read. */
  | { readonly kind: 'expired'; readonly message: string };

/** What happened to a partition. */
export type PartitionAlert = { readonly topic: Topic; readonly partition: number } & Happening;

interface PartitionAlertsParts {
  readonly topic: Topic;
  readonly metrics: Metrics;
  readonly onAlert: (alert: PartitionAlert) => void;
}

/** Reports what happens to the partitions of one stage, as alert and as metric. */
export interface PartitionAlerts extends Pick<ClaimAlerts, 'diverged' | 'noLongerDiverged' | 'expired'> {
  /** Reports the dead letters of one batch. Does nothing without any. */
  deadLettered(bad: readonly BadRecord[]): void;
  halted(partition: number, cause: TooManyDeadLetters): void;
}

/** Creates the alerts of a stage whose partitions need no claim. */
export function createPartitionAlerts({ topic, metrics, onAlert }: PartitionAlertsParts): PartitionAlerts {
  return {
    deadLettered(bad) {
      const latest = bad.at(-1);
      if (latest === undefined) return;
      const { reason, message } = latest;
      const { partition, offset } = latest.record;
      onAlert({ kind: 'dead_letters', topic, partition, count: bad.length, offset, reason, message });
    },
    halted(partition, cause) {
      metrics.add('partitions_halted_total', 1, topic);
      onAlert({ kind: 'halted', topic, partition, ...cause });
    },
    diverged(divergence) {
      metrics.add('partitions_diverged', 1, topic);
      onAlert({ kind: 'diverged', topic, partition: divergence.partition, message: describeDivergence(divergence) });
    },
    noLongerDiverged() {
      metrics.add('partitions_diverged', -1, topic);
    },
    expired(records) {
      metrics.add('records_expired_total', records.end - records.from, topic);
      onAlert({ kind: 'expired', topic, partition: records.partition, message: describeExpired(records) });
    },
  };
}

interface ClaimedPartitionAlertsParts extends PartitionAlertsParts {
  /** Counts lost claims. */
  readonly fencedCounter: CounterName;
}

/** Creates the alerts of a stage that claims its partitions. */
export const createClaimedPartitionAlerts = (parts: ClaimedPartitionAlertsParts): PartitionAlerts & ClaimAlerts => ({
  ...createPartitionAlerts(parts),
  lost(partition, loss, nextOffset) {
    // A store that falls back takes all partitions of a process at once, and nobody else has claimed them.
    if (loss === 'claimed') parts.metrics.add(parts.fencedCounter, 1);
    parts.onAlert({ kind: loss === 'claimed' ? 'fenced' : loss, topic: parts.topic, partition, nextOffset });
  },
});
