/** Reads the header with which a server says when to ask again. Pure. */
import { dayMs } from '../schemas/durations.js';

const maxRetryAfterMs = dayMs;
const secondsPattern = /^\d+$/;
/**
 * Matches the preferred form and both obsolete ones: `Sun, 06 Nov 1994 08:49:37 GMT`,
 * `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`.
 */
const datePattern = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d\d:\d\d:\d\d( GMT| \d{4})$/;

/**
 * Parses a Retry-After header (RFC 9110, section 10.2.3) to a time in ms, 0 to 24 hours. Returns undefined for text
 * that is neither seconds nor a date.
 *
 * @param nowMs Epoch ms.
 */
export function retryAfterDelay(value: string, nowMs: number): number | undefined {
  const text = value.trim();
  const delayMs = secondsPattern.test(text) ? Number(text) * 1_000 : httpDate(text) - nowMs;
  return Number.isNaN(delayMs) ? undefined : Math.min(Math.max(0, delayMs), maxRetryAfterMs);
}

/** Parses an HTTP date; NaN if invalid. */
const httpDate = (text: string): number =>
  datePattern.test(text) ? Date.parse(text.endsWith('GMT') ? text : `${text} GMT`) : Number.NaN;
