/**
 * The rules of one geofence and one location: what happens, or which rule stands in the way.
 *
 * Verdicts are constants, so that judging allocates nothing and an explanation can name the very rule that decided.
 */
import type { Settings } from '../../schemas/json/project.js';
import type { Location, Visit } from '../../schemas/records.js';
import { entryConfidence, exitConfidence } from './confidence.js';
import { type EvaluationContext, type FenceRules, type Fences, Zone } from './types.js';

/** Why a fence makes no events at this moment for this user. */
export type Unmonitored = 'disabled' | 'not_for_user' | 'closed';

/** What becomes of a device that is outside. All but `entered` leave it outside. */
export type OutsideVerdict =
  | 'entered'
  | 'outside'
  | 'gone'
  | 'not_for_request'
  | Unmonitored
  | 'not_stopped'
  | 'confidence_too_low';

/** What becomes of a device that is inside. `exited`, `left_in_silence` and `gone` end the visit; the others keep it. */
export type InsideVerdict =
  | 'exited'
  | 'left_in_silence'
  | 'gone'
  | 'dwelled'
  | 'inside'
  | 'not_for_request'
  | Unmonitored
  | 'confidence_too_low';

const minuteMs = 60_000;

/** Past its `deleteAfter`: as if it were deleted. */
export const isGone = (rules: FenceRules, atMs: number): boolean => atMs > rules.deleteAfterMs;

/** Switched off by its owner, or past its `disableAfter`. */
export const isDisabled = (rules: FenceRules, atMs: number): boolean => !rules.enabled || atMs > rules.disableAfterMs;

const isForRequest = ({ addresses }: FenceRules, ip: string | null): boolean =>
  addresses === null || (ip !== null && addresses(ip));

const isForUser = ({ userIds }: FenceRules, userId: string | null): boolean =>
  userIds === null || (userId !== null && userIds.has(userId));

const isClosed = ({ hours }: FenceRules, atMs: number): boolean => hours !== null && !hours(atMs);

/** null when the fence is monitored. */
export function unmonitoredBecause(rules: FenceRules, location: Location, settings: Settings): Unmonitored | null {
  if (isDisabled(rules, location.occurredAt)) return 'disabled';
  if (!isForUser(rules, location.userId)) return 'not_for_user';
  if (settings.restrictToOperatingHours && isClosed(rules, location.occurredAt)) return 'closed';
  return null;
}

const isInEntryReach = (zone: Zone, settings: Settings): boolean =>
  settings.bufferEntries ? zone !== Zone.apart : zone >= Zone.partly;

/** Never both entering and leaving: a device at rest in the buffer doesn't flap. */
const isInExitReach = (zone: Zone, settings: Settings): boolean =>
  !isInEntryReach(zone, settings) && (settings.bufferExits ? zone === Zone.apart : zone < Zone.partly);

const mustStop = (rules: FenceRules, settings: Settings): boolean => rules.stopDetection ?? settings.stopDetection;

/** One dwell per visit, once it has lasted longer than the threshold. */
function isDwellDue(rules: FenceRules, visit: Visit, atMs: number, settings: Settings): boolean {
  if (!settings.dwellEvents || visit.dwelled) return false;
  const threshold_min = rules.dwellThreshold_min ?? settings.defaultDwellThreshold;
  return threshold_min !== null && atMs - visit.since > threshold_min * minuteMs;
}

/** Every transition has at least the least confidence, so a share is computed only for projects that ask for more. */
const isSure = (
  confidenceOf: typeof entryConfidence,
  zone: Zone,
  row: number,
  location: Location,
  fences: Fences,
  { minimumConfidence }: Settings,
): boolean => minimumConfidence <= 1 || confidenceOf(zone, row, location, fences) >= minimumConfidence;

/**
 * A device that is outside the fence of this row reports a location; `zone` says where. In zone `apart` it stays
 * outside.
 */
export function judgeOutside(
  row: number,
  zone: Zone,
  location: Location,
  { fences, settings }: EvaluationContext,
): OutsideVerdict {
  const rules = fences.rules(row);
  if (isGone(rules, location.occurredAt)) return 'gone';
  if (!isInEntryReach(zone, settings)) return 'outside';
  if (!isForRequest(rules, location.ip)) return 'not_for_request';
  const unmonitored = unmonitoredBecause(rules, location, settings);
  if (unmonitored !== null) return unmonitored;
  if (mustStop(rules, settings) && !location.stopped && !location.foreground) return 'not_stopped';
  if (!isSure(entryConfidence, zone, row, location, fences, settings)) return 'confidence_too_low';
  return 'entered';
}

/** A device that is inside the fence of this row reports a location. */
export function judgeInside(
  row: number,
  visit: Visit,
  location: Location,
  { fences, settings }: EvaluationContext,
): InsideVerdict {
  const rules = fences.rules(row);
  if (isGone(rules, location.occurredAt)) return 'gone';
  const zone = fences.zone(row, location.longitude, location.latitude, location.accuracy_m);
  const leaves = isInExitReach(zone, settings);
  if (!leaves && !isDwellDue(rules, visit, location.occurredAt, settings)) return 'inside';
  if (!isForRequest(rules, location.ip)) return 'not_for_request';
  if (!isSure(leaves ? exitConfidence : entryConfidence, zone, row, location, fences, settings))
    return 'confidence_too_low';
  const unmonitored = unmonitoredBecause(rules, location, settings);
  if (leaves) return unmonitored === null ? 'exited' : 'left_in_silence';
  return unmonitored ?? 'dwelled';
}
