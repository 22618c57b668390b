/** Determines when a location was measured: by the device's time where it is plausible, else by the time of receipt. */
import { dayMs, minuteMs } from '../../schemas/durations.js';
import { invalid, type Validated } from '../../schemas/errors.js';
import { minEpochMs, readDate, readNumber, rules } from '../fields/values.js';

/** The raw time fields of a request. */
export interface TimeFields {
  /**
   * Milliseconds from the fix to the sending, by the device's clock. Correct even when that clock is wrong. A clock
   * that is set back in between makes it negative. A clock that counts from boot makes it wrong across a restart.
   */
  readonly updatedAtMsDiff?: unknown;
  /** Epoch milliseconds by the device's clock. */
  readonly updatedAtMs?: unknown;
  /** A date, or epoch milliseconds. */
  readonly updatedAt?: unknown;
}

interface OccurredAt {
  /** Epoch milliseconds, whole. */
  readonly occurredAt: number;
  readonly deviceTimed: boolean;
}

/**
 * Older fixes are refused. Clocks that count from boot produce such ages too. Only an `updatedAtMs` can tell the two
 * apart.
 */
export const maxAgeMs = 7 * dayMs;
/** A device clock that is further ahead of the server's is wrong. */
export const maxAheadMs = 5 * minuteMs;

const byReceipt = (receivedAt: number): OccurredAt => ({ occurredAt: receivedAt, deviceTimed: false });

/** A device time that is too far ahead of the receipt is ignored. */
function byDevice(epochMs: number, receivedAt: number): OccurredAt {
  const occurredAt = Math.round(epochMs);
  return occurredAt > receivedAt + maxAheadMs ? byReceipt(receivedAt) : { occurredAt, deviceTimed: true };
}

const ageRule =
  `must be a number of milliseconds from -${maxAheadMs}, 5 minutes ahead, to ${maxAgeMs}, 7 days ago, ` +
  'or come with an updatedAtMs in that range';
const epochRule = 'must be a number of epoch milliseconds';

/** Refuses dates before the year 2000: no device has measured a location then. */
export function checkRecent(param: string, epochMs: number | null): Validated<number> {
  if (epochMs === null) return invalid(param, rules.date);
  return epochMs < minEpochMs ? invalid(param, 'must not be before the year 2000') : { ok: true, value: epochMs };
}

const isUsableAge = (ageMs: number): boolean => ageMs >= -maxAheadMs && ageMs <= maxAgeMs;

/**
 * Returns the first given of: receipt − `updatedAtMsDiff`, `updatedAtMs`, `updatedAt`; else the receipt. An age out of
 * range gives way to an `updatedAtMs` of the same range, and is a problem without one. So is a broken date: a location
 * evaluated as now would cause events that never happened. Only an `updatedAtMs` before the year 2000 counts as not
 * given: clocks that were never set send it.
 */
export function readOccurredAt(fields: TimeFields, receivedAt: number): Validated<OccurredAt> {
  const ageMs = readNumber(fields.updatedAtMsDiff);
  if (ageMs === null) return invalid('updatedAtMsDiff', ageRule);
  const epochMs = readNumber(fields.updatedAtMs);
  if (epochMs === null) return invalid('updatedAtMs', epochRule);
  const given = readDate(fields.updatedAt);
  const updatedAt = given === undefined ? undefined : checkRecent('updatedAt', given);
  if (updatedAt?.ok === false) return updatedAt;
  if (ageMs !== undefined) {
    const usableMs = [ageMs, receivedAt - (epochMs ?? 0)].find(isUsableAge);
    if (usableMs === undefined) return invalid('updatedAtMsDiff', ageRule);
    return { ok: true, value: byDevice(receivedAt - usableMs, receivedAt) };
  }
  if (epochMs !== undefined && epochMs >= minEpochMs) return { ok: true, value: byDevice(epochMs, receivedAt) };
  return { ok: true, value: updatedAt === undefined ? byReceipt(receivedAt) : byDevice(updatedAt.value, receivedAt) };
}
