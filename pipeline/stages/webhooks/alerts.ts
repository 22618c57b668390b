/** What an operator should hear of. Nothing of it ends the stage, and nothing of it tells an address or a secret. */
import type { WebhookDisabledReason } from '../../../schemas/json/webhook.js';
import type { DeliverySource } from '../../ports.js';
import type { DeadLetterReason } from '../../records/decode.js';
import type { HaltedPartition } from '../breaker.js';

export type WebhookNotice =
  /** It gets nothing more until its owner enables it again. */
  | {
      readonly kind: 'webhook_disabled';
      readonly webhook: string;
      readonly project: string;
      readonly environment: string;
      readonly reason: WebhookDisabledReason;
    }
  /** Another owner had claimed the partition; it was claimed again. */
  | ({ readonly kind: 'fenced'; readonly nextOffset: number } & DeliverySource)
  /** `count` records of a batch were dead letters; the rest tells of the latest. */
  | ({
      readonly kind: 'dead_letters';
      readonly count: number;
      readonly offset: number;
      readonly reason: DeadLetterReason;
      readonly message: string;
    } & DeliverySource)
  /**
   * No deliveries are made of the partition until it is assigned anew; those of the others, and what waits already, go
   * on.
   */
  | ({ readonly kind: 'halted' } & HaltedPartition)
  /**
   * The partition is not the log that was read before. No deliveries are made of it until its position is repaired;
   * what waits already goes on.
   */
  | ({ readonly kind: 'diverged'; readonly message: string } & DeliverySource)
  /** The queue fell back to an older state. The partition was claimed again, and what was lost is made anew. */
  | ({ readonly kind: 'fallen_back'; readonly nextOffset: number } & DeliverySource);
