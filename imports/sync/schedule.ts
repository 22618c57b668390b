/** The times of the nightly sync, and whether a run is due. Pure. */
import { Cron } from 'croner';
import { dayMs } from '../../schemas/durations.js';
import type { SyncReason, SyncRecord } from '../../schemas/json/sync.js';

/** The times at which a night's runs start, epoch ms. */
export interface Schedule {
  /** Returns the first time after `nowMs`. */
  next(nowMs: number): number;
  /** Returns the last time that is not after `nowMs`. */
  latest(nowMs: number): number;
}

/**
 * Makes the schedule of a time of the day, HH:mm, in an IANA time zone. On a day whose clock skips the time, the run
 * starts later by what is skipped. If the clock shows the time twice, only the first counts.
 */
export function createSchedule(time: string, timeZone: string): Schedule {
  const [hour, minute] = time.split(':').map(Number);
  const cron = new Cron(`${minute} ${hour} * * *`, { timezone: timeZone, paused: true });
  const next = (nowMs: number): number => cron.nextRun(new Date(nowMs))!.getTime();
  let [latestMs, nextMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  return {
    next,
    latest(nowMs) {
      if (nowMs < latestMs || nowMs >= nextMs) {
        latestMs = latestOf(next, nowMs);
        nextMs = next(nowMs);
      }
      return latestMs;
    },
  };
}

/** Walks on from a time that is certainly before the wanted one. */
function latestOf(next: (nowMs: number) => number, nowMs: number): number {
  let latest = next(nowMs - 3 * dayMs);
  for (let following = next(latest); following <= nowMs; following = next(following)) latest = following;
  return latest;
}

/** Interrupted runs are repeated until the run has been started this often. */
export const maxAttempts = 3;

/** A run to start. */
interface DueRun {
  readonly reason: SyncReason;
  readonly attempt: number;
  /** Since when it has waited, epoch ms. */
  readonly sinceMs: number;
}

/**
 * Returns the run that is due; undefined if none is. A run in progress counts as due, because its process may have
 * ended: the lease of the run decides. A run of a sync that is off is due to be ended.
 */
export function dueRun(sync: SyncRecord, schedule: Schedule, nowMs: number): DueRun | undefined {
  const { enabled, lastRun, requested } = sync;
  if (lastRun?.result === 'running')
    return { reason: lastRun.reason, attempt: lastRun.attempt + 1, sinceMs: lastRun.startedAt };
  if (!enabled) return undefined;
  const startedAt = lastRun?.startedAt ?? Number.NEGATIVE_INFINITY;
  if (requested.at > startedAt) return { reason: requested.reason, attempt: 1, sinceMs: requested.at };
  const sinceMs = schedule.latest(nowMs);
  // A start that is so far ahead was read from a clock that has been set back: it tells nothing of the nights.
  const isNight = sinceMs > startedAt || startedAt > nowMs + dayMs;
  return isNight ? { reason: 'nightly', attempt: 1, sinceMs } : undefined;
}
