/** The health of an endpoint and its consequences. Pure. */
import { dayMs, hasElapsed } from '../../../schemas/durations.js';
import type { WebhookRecord } from '../../../schemas/json/webhook.js';
import type { WebhookHealth } from '../../ports.js';

/** A webhook that only fails for this long is disabled. */
export const maxFailingMs = 5 * dayMs;
/**
 * How long health is stored, so that it ends some time after its webhook. An endpoint that gets nothing for this long
 * starts as a new one.
 */
export const healthRetentionMs = 30 * dayMs;
/** Consecutive successes are written at most this often. */
const rewriteAfterMs = 60_000;

/** A webhook's stored health and what this process knows beyond it. Epoch ms throughout. */
export interface EndpointHealth {
  failingSinceMs: number | null;
  lastSuccessAtMs: number | null;
  /** Time of the last write. */
  writtenAtMs: number;
  /** The endpoint asked for a pause until then, by the steady clock. */
  pausedUntilMs: number;
  /** `updatedAt` of the webhook when this process disabled it; counts until the read model shows a later update. */
  disabledAsOf: number | null;
}

/** Returns the health of an endpoint that this process begins to serve, from what is stored of it. */
export const endpointHealthOf = (health: WebhookHealth, nowMs: number): EndpointHealth => ({
  ...health,
  writtenAtMs: nowMs,
  pausedUntilMs: 0,
  disabledAsOf: null,
});

/** Returns whether the last attempt succeeded. An endpoint without an attempt is not healthy yet. */
export const isHealthy = ({ failingSinceMs, lastSuccessAtMs }: EndpointHealth): boolean =>
  failingSinceMs === null && lastSuccessAtMs !== null;

/** Records the result of an attempt. Returns whether to write the health: on each change, and once in a while. */
export function recordAttempt(health: EndpointHealth, isDelivered: boolean, nowMs: number): boolean {
  const wasFailing = health.failingSinceMs !== null;
  if (isDelivered) {
    const isDue =
      wasFailing || health.lastSuccessAtMs === null || hasElapsed(rewriteAfterMs, health.writtenAtMs, nowMs);
    health.failingSinceMs = null;
    health.lastSuccessAtMs = nowMs;
    if (isDue) health.writtenAtMs = nowMs;
    return isDue;
  }
  health.failingSinceMs ??= nowMs;
  if (!wasFailing) health.writtenAtMs = nowMs;
  return !wasFailing;
}

/**
 * Applies what other processes have stored since to a health that is failing here. A success ends the failures before
 * it: the webhook is failing since the first failure after it, at the latest since now.
 */
export function applyStored(health: EndpointHealth, stored: WebhookHealth, nowMs: number): void {
  if (health.failingSinceMs === null) return;
  const lastSuccessAtMs = Math.max(health.lastSuccessAtMs ?? -Infinity, stored.lastSuccessAtMs ?? -Infinity);
  const failures = [health.failingSinceMs, stored.failingSinceMs ?? nowMs].filter((atMs) => atMs > lastSuccessAtMs);
  health.failingSinceMs = Math.min(...failures, nowMs);
  if (lastSuccessAtMs > -Infinity) health.lastSuccessAtMs = lastSuccessAtMs;
}

/** Returns whether every attempt failed for five days in which the owner didn't edit the webhook either. */
export const hasFailedTooLong = (
  { failingSinceMs }: EndpointHealth,
  { updatedAt }: WebhookRecord,
  nowMs: number,
): boolean => failingSinceMs !== null && nowMs - Math.max(failingSinceMs, updatedAt) >= maxFailingMs;
