/** How a webhook has been doing, and what follows from it. Pure. */
import type { WebhookRecord } from '../../../schemas/json/webhook.js';
import type { WebhookHealth } from '../../ports.js';

const dayMs = 24 * 60 * 60 * 1000;
/** Nothing but failure for so long disables a webhook. */
export const maxFailingMs = 5 * dayMs;
/** A success that follows another is not worth a write more often. */
const rewriteAfterMs = 60_000;

/** A webhook's health and what this process knows beyond it. Epoch ms throughout. */
export interface Condition {
  failingSinceMs: number | null;
  lastSuccessAtMs: number | null;
  /** As of the last write. */
  writtenAtMs: number;
  /** It asked to be left alone until then. */
  pausedUntilMs: number;
  /** `updatedAt` of the webhook that this process has disabled, until its view shows another. */
  disabledAsOf: number | null;
}

export const conditionOf = (health: WebhookHealth, nowMs: number): Condition => ({
  ...health,
  writtenAtMs: nowMs,
  pausedUntilMs: 0,
  disabledAsOf: null,
});

/** Has the last try succeeded? One that never was tried has to earn it. */
export const isTrusted = ({ failingSinceMs, lastSuccessAtMs }: Condition): boolean =>
  failingSinceMs === null && lastSuccessAtMs !== null;

/** Takes in how a try ended; answers whether the health is to be written: at each turn, and now and then. */
export function noteTry(condition: Condition, isDelivered: boolean, nowMs: number): boolean {
  const wasFailing = condition.failingSinceMs !== null;
  if (isDelivered) {
    const isDue = wasFailing || condition.lastSuccessAtMs === null || nowMs - condition.writtenAtMs >= rewriteAfterMs;
    condition.failingSinceMs = null;
    condition.lastSuccessAtMs = nowMs;
    if (isDue) condition.writtenAtMs = nowMs;
    return isDue;
  }
  condition.failingSinceMs ??= nowMs;
  if (!wasFailing) condition.writtenAtMs = nowMs;
  return !wasFailing;
}

/** Nothing but failure for five days, in which its owner has not touched it either: an edit is reason to hope. */
export const isHopeless = ({ failingSinceMs }: Condition, { updatedAt }: WebhookRecord, nowMs: number): boolean =>
  failingSinceMs !== null && nowMs - Math.max(failingSinceMs, updatedAt) >= maxFailingMs;
