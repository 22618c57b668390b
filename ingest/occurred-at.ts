/** When a location was fixed: by the device where it says so believably, else by receipt. */
import { invalid, type Validated } from '../schemas/errors.js';
import { readNumber } from './fields.js';

/** The time fields of a request, unchecked. */
export interface TimeFields {
  /** Milliseconds from the fix to the sending, by the device's own clock: right even when that clock is wrong. */
  readonly updatedAtMsDiff?: unknown;
  /** Epoch milliseconds by the device's clock. */
  readonly updatedAtMs?: unknown;
  /** ISO 8601, or epoch milliseconds. */
  readonly updatedAt?: unknown;
}

export interface OccurredAt {
  /** Epoch milliseconds, whole. */
  readonly occurredAt: number;
  readonly deviceTimed: boolean;
}

const dayMs = 86_400_000;
/** An age beyond it is no age: clocks that count from boot make such differences. */
export const maxAgeMs = 7 * dayMs;
/** A device clock further ahead of ours is wrong. */
export const maxAheadMs = 5 * 60_000;
/** Earlier epoch times are counts from boot or clocks that were never set. */
export const minEpochMs = Date.UTC(2000, 0, 1);

const iso = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/i;
const zoneOrDateOnly = /(?:Z|[+-]\d{2}:?\d{2}|^.{10})$/i;

/** Epoch ms of an ISO 8601 date or date and time, UTC where no zone is named; NaN otherwise. */
export function parseIsoTime(text: string): number {
  if (!iso.test(text)) return Number.NaN;
  return Date.parse(text.endsWith('Z') || zoneOrDateOnly.test(text) ? text : `${text}Z`);
}

const byReceipt = (receivedAt: number): OccurredAt => ({ occurredAt: receivedAt, deviceTimed: false });

/** A device time that lies too far ahead of the receipt is no time at all. */
function byDevice(epochMs: number, receivedAt: number): OccurredAt {
  const occurredAt = Math.round(epochMs);
  return occurredAt > receivedAt + maxAheadMs ? byReceipt(receivedAt) : { occurredAt, deviceTimed: true };
}

/** NaN for what is no time. */
function readTime(value: unknown): number | undefined {
  const byText = typeof value === 'string' ? parseIsoTime(value.trim()) : Number.NaN;
  return Number.isNaN(byText) ? readNumber(value) : byText;
}

/** The first believable of: receipt − `updatedAtMsDiff`, `updatedAtMs`, `updatedAt`; else the receipt. Only an unreadable `updatedAt` is a problem. */
export function readOccurredAt(fields: TimeFields, receivedAt: number): Validated<OccurredAt> {
  const ageMs = readNumber(fields.updatedAtMsDiff);
  if (ageMs !== undefined && ageMs >= 0 && ageMs <= maxAgeMs)
    return { ok: true, value: byDevice(receivedAt - ageMs, receivedAt) };
  const epochMs = readNumber(fields.updatedAtMs);
  if (epochMs !== undefined && epochMs >= minEpochMs) return { ok: true, value: byDevice(epochMs, receivedAt) };
  const updatedAt = readTime(fields.updatedAt);
  if (updatedAt === undefined) return { ok: true, value: byReceipt(receivedAt) };
  if (!(updatedAt >= minEpochMs)) return invalid('updatedAt', 'must be an ISO 8601 date and time, from the year 2000 on');
  return { ok: true, value: byDevice(updatedAt, receivedAt) };
}
