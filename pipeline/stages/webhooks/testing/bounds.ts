/** Bounds of the webhook stage in tests, large enough for all that do not give their own. */
import { dayMs } from '../../../../schemas/durations.js';
import type { WebhookStageBounds } from '../stage.js';

/** Eight attempts within 28 hours. */
export const retryDelaysMs: readonly number[] = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000].map(
  (seconds) => seconds * 1_000,
);

/** The bounds of tests that do not give their own. */
export const webhookStageBounds: WebhookStageBounds = {
  maxDeadLetterShare: 0.5,
  maxConcurrency: 2_000,
  maxConcurrencyPerWebhook: 16,
  deliveryRetentionMs: 14 * dayMs,
};
