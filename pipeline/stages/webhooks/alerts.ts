/** Alerts for the operator. None ends the stage, and none contains an address or a secret. */
import type { WebhookDisabledReason } from '../../../schemas/json/webhook.js';
import type { DeliverySource } from '../../ports.js';
import type { DeadLetterReason } from '../../records/decode.js';
import type { HaltedPartition } from '../breaker.js';

export type WebhookAlert =
  /** The webhook gets no deliveries until its owner enables it again. */
  | {
      readonly kind: 'webhook_disabled';
      readonly webhook: string;
      readonly project: string;
      readonly environment: string;
      readonly reason: WebhookDisabledReason;
    }
  /** Another owner had claimed the partition; this process claimed it again. */
  | ({ readonly kind: 'fenced'; readonly nextOffset: number } & DeliverySource)
  /** `count` records of a batch were dead-lettered; the other fields describe the latest. */
  | ({
      readonly kind: 'dead_letters';
      readonly count: number;
      readonly offset: number;
      readonly reason: DeadLetterReason;
      readonly message: string;
    } & DeliverySource)
  /**
   * The partition is halted until it is assigned again. Other partitions and queued deliveries continue.
   */
  | ({ readonly kind: 'halted' } & HaltedPartition)
  /**
   * The partition's log is not the one that was read before. The partition is halted until its position is repaired;
   * queued deliveries continue.
   */
  | ({ readonly kind: 'diverged'; readonly message: string } & DeliverySource)
  /** The queue fell back to an older state. The partition was claimed again, and lost deliveries are made again. */
  | ({ readonly kind: 'fallen_back'; readonly nextOffset: number } & DeliverySource);
