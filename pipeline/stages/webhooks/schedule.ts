/**
 * When a delivery is tried again. Pure.
 *
 * Flows in: which try it was, how it ended, and what the answer asked for. Flows out: what becomes of the delivery, and
 * until when the whole webhook is left alone.
 */
import type { AttemptResult, AttemptState } from '../../../schemas/json/webhook.js';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** From the end of a failed try to the next; the first try follows at once. */
export const retryDelaysMs = [
  5_000,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  10 * hourMs,
] as const;
export const maxTries = retryDelaysMs.length + 1;

/** Each delay is up to this share longer or shorter, so that what failed together doesn't come back together. */
export const jitterShare = 0.1;

const maxRetryAfterMs = 24 * hourMs;
const maxPauseMs = hourMs;
/** Too many requests, and not available: said of the webhook as a whole, not of one request. */
const pausingStatuses: readonly (number | null)[] = [429, 503];

/** How a try ended. */
export interface EndedTry {
  /** 1 for the first. */
  readonly attempt: number;
  readonly result: AttemptResult;
  readonly status: number | null;
  /** Value of the Retry-After header, if any. */
  readonly retryAfter: string | undefined;
  /** Epoch ms. */
  readonly endedAtMs: number;
}

export interface Verdict {
  readonly state: AttemptState;
  /** Epoch ms; null unless another try follows. */
  readonly nextAttemptAtMs: number | null;
  /** Epoch ms; the webhook gets nothing until then. */
  readonly pausedUntilMs: number | null;
}

/** @param random 0 up to 1, as of Math.random. */
export function verdictOn({ attempt, result, status, retryAfter, endedAtMs }: EndedTry, random: () => number): Verdict {
  if (result === 'delivered') return { state: 'delivered', nextAttemptAtMs: null, pausedUntilMs: null };
  const askedForMs = retryAfter === undefined ? undefined : retryAfterTime(retryAfter, endedAtMs);
  const pausedUntilMs =
    askedForMs !== undefined && pausingStatuses.includes(status) ? Math.min(askedForMs, endedAtMs + maxPauseMs) : null;
  const delayMs = retryDelaysMs[attempt - 1];
  if (delayMs === undefined) return { state: 'given_up', nextAttemptAtMs: null, pausedUntilMs };
  const scheduledMs = endedAtMs + Math.round(delayMs * (1 + jitterShare * (2 * random() - 1)));
  return { state: 'retrying', nextAttemptAtMs: Math.max(scheduledMs, askedForMs ?? 0), pausedUntilMs };
}

const secondsPattern = /^\d{1,10}$/;
/**
 * The preferred form and both obsolete ones: Sun, 06 Nov 1994 08:49:37 GMT; Sunday, 06-Nov-94 08:49:37 GMT; Sun Nov  6
 * 08:49:37 1994.
 */
const datePattern = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d\d:\d\d:\d\d( GMT| \d{4})$/;

/**
 * The time that a Retry-After header names (RFC 9110, section 10.2.3), as epoch ms, at most 24 hours after `nowMs`.
 * Undefined for what is neither seconds nor a date.
 */
export function retryAfterTime(value: string, nowMs: number): number | undefined {
  const text = value.trim();
  const timeMs = secondsPattern.test(text) ? nowMs + Number(text) * 1_000 : httpDate(text);
  return Number.isNaN(timeMs) ? undefined : Math.min(timeMs, nowMs + maxRetryAfterMs);
}

/** NaN for what is none. */
const httpDate = (text: string): number =>
  datePattern.test(text) ? Date.parse(text.endsWith('GMT') ? text : `${text} GMT`) : Number.NaN;
