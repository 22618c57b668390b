/**
 * Applies the rules of one geofence to one location, and returns the transition or the rule that prevents it.
 *
 * Verdicts are constants. A judgement allocates nothing, and an explanation can name the deciding rule.
 */
import { minuteMs } from '../../schemas/durations.js';
import type { Settings } from '../../schemas/json/project.js';
import type { Location, Visit } from '../../schemas/records.js';
import { type EvaluationContext, type FenceRules, type Fences, type Transition, Zone } from './types.js';

/** Why a fence makes no events for this user at this time. */
type Unmonitored = 'disabled' | 'not_for_user' | 'closed';

/** Verdict on a device that is outside. It stays outside unless `entered`. */
type OutsideVerdict =
  | 'entered'
  | 'outside'
  | 'gone'
  | 'not_for_request'
  | Unmonitored
  | 'not_stopped'
  | 'confidence_too_low';

/** Verdict on a device that is inside. `exited`, `left_in_silence` and `gone` end the visit; the others continue it. */
type InsideVerdict =
  | 'exited'
  | 'left_in_silence'
  | 'gone'
  | 'dwelled'
  | 'inside'
  | 'not_for_request'
  | Unmonitored
  | 'confidence_too_low';

/** Tests whether `deleteAfter` has passed. Such a fence counts as deleted. */
export const isGone = (rules: FenceRules, atMs: number): boolean => atMs > rules.deleteAfterMs;

/** Tests whether the fence is disabled, or its `disableAfter` has passed. */
export const isDisabled = (rules: FenceRules, atMs: number): boolean => !rules.enabled || atMs > rules.disableAfterMs;

/** Tests whether the fence makes events for requests from this address. */
export const isForRequest = ({ addresses }: FenceRules, ip: string | null): boolean =>
  addresses === null || (ip !== null && addresses(ip));

/** Tests whether the fence makes events for this user; null: a device without a user. */
export const isForUser = ({ userIds }: FenceRules, userId: string | null): boolean =>
  userIds === null || (userId !== null && userIds.has(userId));

const isClosed = ({ hours }: FenceRules, atMs: number): boolean => hours !== null && !hours(atMs);

/** Returns why the fence is not monitored, or null if it is. */
function unmonitoredBecause(rules: FenceRules, location: Location, settings: Settings): Unmonitored | null {
  if (isDisabled(rules, location.occurredAt)) return 'disabled';
  if (!isForUser(rules, location.userId)) return 'not_for_user';
  if (settings.restrictToOperatingHours && isClosed(rules, location.occurredAt)) return 'closed';
  return null;
}

const isInEntryReach = (zone: Zone, settings: Settings): boolean =>
  settings.bufferEntries ? zone !== Zone.apart : zone >= Zone.partly;

/**
 * Returns the accuracy that decides on entries and exits, in metres. It is 0 where only the point counts: a zone of a
 * point alone needs no distance to the boundary.
 */
export const decidingAccuracyM = (
  { accuracy_m }: Location,
  { bufferEntries, bufferExits, minimumConfidence }: Settings,
): number => (bufferEntries || bufferExits || minimumConfidence > 1 ? accuracy_m : 0);

/** A location never both enters and leaves, so that a device at rest in the buffer does not flap. */
const isInExitReach = (zone: Zone, settings: Settings): boolean =>
  !isInEntryReach(zone, settings) && (settings.bufferExits ? zone === Zone.apart : zone < Zone.partly);

const mustStop = (rules: FenceRules, settings: Settings): boolean => rules.stopDetection ?? settings.stopDetection;

/** Tests whether the visit lasts longer than the threshold and its dwell was not reported yet. */
function isDwellDue(rules: FenceRules, visit: Visit, atMs: number, settings: Settings): boolean {
  if (!settings.dwellEvents || visit.dwelled) return false;
  const threshold_min = rules.dwellThreshold_min ?? settings.defaultDwellThreshold;
  return threshold_min !== null && atMs - visit.since > threshold_min * minuteMs;
}

/** Tests the minimum confidence. Every transition has at least 1, so the share is computed only for higher minimums. */
const isConfident = (
  confidenceOf: typeof entryConfidence,
  zone: Zone,
  row: number,
  location: Location,
  fences: Fences,
  { minimumConfidence }: Settings,
): boolean => minimumConfidence <= 1 || confidenceOf(zone, row, location, fences) >= minimumConfidence;

/**
 * Judges a location in `zone` of a device that is outside the fence. In zone `apart` it stays outside. The zone may be
 * that of {@link decidingAccuracyM}.
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
  if (!isConfident(entryConfidence, zone, row, location, fences, settings)) return 'confidence_too_low';
  return 'entered';
}

/** Judges a location of a device that is inside the fence. */
export function judgeInside(
  row: number,
  visit: Visit,
  location: Location,
  { fences, settings }: EvaluationContext,
): InsideVerdict {
  const rules = fences.rules(row);
  if (isGone(rules, location.occurredAt)) return 'gone';
  const zone = fences.zone(row, location.longitude, location.latitude, decidingAccuracyM(location, settings));
  const leaves = isInExitReach(zone, settings);
  if (!leaves && !isDwellDue(rules, visit, location.occurredAt, settings)) return 'inside';
  if (!isForRequest(rules, location.ip)) return 'not_for_request';
  if (!isConfident(leaves ? exitConfidence : entryConfidence, zone, row, location, fences, settings))
    return 'confidence_too_low';
  const unmonitored = unmonitoredBecause(rules, location, settings);
  if (leaves) return unmonitored === null ? 'exited' : 'left_in_silence';
  return unmonitored ?? 'dwelled';
}

type Confidence = Transition['confidence'];

/** Returns the confidence of an entry or a dwell: 3 if the disc is wholly inside, 2 if at least half of it is. */
export function entryConfidence(zone: Zone, row: number, location: Location, fences: Fences): Confidence {
  if (zone === Zone.within) return 3;
  if (zone === Zone.apart) return 1;
  return fences.holdsHalf(row, location.longitude, location.latitude, location.accuracy_m) ? 2 : 1;
}

/**
 * Returns the confidence of an exit: 3 if the disc is wholly outside or touches, 2 if at least half of it is outside.
 */
export function exitConfidence(zone: Zone, row: number, location: Location, fences: Fences): Confidence {
  if (zone === Zone.apart) return 3;
  if (zone === Zone.within) return 1;
  const share = fences.share(row, location.longitude, location.latitude, location.accuracy_m);
  if (zone === Zone.near && share === 0) return 3;
  return 1 - share >= 0.5 ? 2 : 1;
}
