/** How long records stay on topics without a setting of their own. */
import type { Topic } from '../pipeline/ports.js';
import { dayMs } from '../schemas/durations.js';

/** Retention of each topic's records; for `changes`, of its tombstones. */
export const topicRetentionMs: Readonly<Record<Topic, number>> = {
  locations: 7 * dayMs,
  outcomes: dayMs,
  events: 30 * dayMs,
  changes: 30 * dayMs,
  'dead-letters': 30 * dayMs,
  deliveries: 7 * dayMs,
  attempts: 7 * dayMs,
  rejections: 7 * dayMs,
};
