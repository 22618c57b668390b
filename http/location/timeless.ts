/**
 * Tells fixes without a time. The SDK for Android makes such locations: for `mockTracking`, and for a stop that it
 * sends again. An app makes them for `trackOnce`. Their age is the time since boot. Pure.
 */
import { readBoolean, readNumber } from '../fields/values.js';

/** The raw fields that tell whether a fix has a time. */
export interface ClockFields {
  /** The fix by the device's clock, in milliseconds from any point in time. 0: it has no time. */
  readonly locationMs?: unknown;
  readonly deviceType?: unknown;
  readonly sdkVersion?: unknown;
  readonly source?: unknown;
  readonly replayed?: unknown;
}

/** Returns the time of the fix by the device's clock; null if it does not tell. */
export const readFixClock = ({ locationMs }: ClockFields): number | null => readNumber(locationMs) || null;

/** Before 3.19 the SDK sends no clock. */
const versionsWithoutClock = /^3\.(\d|1[0-8])\./;

/** Returns whether the fix has no time, so that its age means nothing. */
export function isTimeless({ locationMs, deviceType, sdkVersion, source, replayed }: ClockFields): boolean {
  const clockMs = readNumber(locationMs);
  if (clockMs !== undefined || deviceType !== 'Android') return clockMs === 0;
  const isMadeBySdk = source === 'MOCK_LOCATION' || readBoolean(replayed) === true;
  return isMadeBySdk && versionsWithoutClock.test(String(sdkVersion));
}
