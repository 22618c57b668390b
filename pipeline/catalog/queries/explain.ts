/**
 * Explains why a location makes or does not make an event for each fence around it.
 *
 * The verdicts come from the functions of evaluation itself. This file adds texts and measurements.
 */
import { minuteMs } from '../../../schemas/durations.js';
import type { DeviceState, Location, Visit } from '../../../schemas/records.js';
import type { Steps } from '../../../schemas/turns.js';
import { isoTime } from '../../../schemas/wire/common.js';
import { evaluate } from '../../evaluation/evaluate.js';
import { entryCandidates, isOfGeneration } from '../../evaluation/geofence-visits.js';
import { entryConfidence, exitConfidence, judgeInside, judgeOutside } from '../../evaluation/rules.js';
import { type Evaluation, type EvaluationContext, type Transition, Zone } from '../../evaluation/types.js';
import { resolveUser } from '../../evaluation/users.js';
import { type AtDistance, nearestFences } from '../index/by-distance.js';
import type { MonitoredContext } from '../index/catalog.js';
import type { ConfigurationReader, Scope } from '../types.js';

/** The rules that decide whether a fence makes an event. Codes are stable. */
export const ruleTexts = {
  entered: 'The device entered the geofence: an entry event is generated.',
  exited: 'The device left the geofence: an exit event is generated.',
  dwelled: 'The visit is longer than the dwell threshold: a dwell event is generated.',
  already_inside: 'The device was inside and still is: an entry is reported once per visit.',
  still_within_buffer: 'Outside the boundary, but within the accuracy that bufferExits allows before an exit.',
  dwell_threshold_not_reached: 'Still inside; the dwell threshold has not passed.',
  already_dwelled: 'Still inside; a dwell is reported once per visit.',
  stays_outside_boundary: 'The device was outside the boundary and still is.',
  within_accuracy_only: 'Outside the boundary, but within the accuracy: only bufferEntries would make this an entry.',
  not_stopped: 'Stop detection is on, and the device is neither stopped nor in the foreground.',
  confidence_below_minimum: "The confidence is below the project's minimumConfidence.",
  disabled: 'The geofence is disabled.',
  past_disable_after: 'The time disableAfter of the geofence has passed.',
  closed: 'The geofence is closed at this time, and the project restricts events to operating hours.',
  not_for_this_user: 'The geofence is limited to other users.',
  not_for_this_address: 'The IP address of the request does not match the geofence: the location is ignored for it.',
  left_in_silence: 'The device left while the geofence was not monitored: the visit ends without an event.',
  past_delete_after: 'The time deleteAfter of the geofence has passed: the visit ends without an event.',
  deleted: 'The geofence no longer exists: the visit ends without an event.',
  no_such_geofence: 'This project has no geofence with this _id in this environment.',
  too_many_geofences: 'The limit on entries applies: the user is inside, or the accuracy reaches, too many geofences.',
  location_repeated: 'The location equals the last one and is ignored.',
  location_stale: 'The location is older than the last one and is ignored.',
} as const;
/** Codes of the rules that decide about a fence. They are part of the API. */
export type RuleCode = keyof typeof ruleTexts;

/** Notices about explanations that may look empty or contradict themselves. Codes are stable. */
export const noticeTexts = {
  no_geofences: 'This project has no geofences in this environment.',
  no_geofence_near: 'No geofence is within 1,000 m of the location. The nearest ones are listed.',
  geofences_changed:
    'Geofences kept changing meanwhile, as during an import: the rule of a changed one may be a later one.',
} as const;
type NoticeCode = keyof typeof noticeTexts;

/** Returns a notice as explanations have it. */
export const notice = (code: NoticeCode) => ({ notice: { code, text: noticeTexts[code] } });

const zoneNames = ['apart', 'near', 'partly', 'within'] as const;

/** One fence in an explanation. Lengths in metres; `distance_m` is to the boundary, positive inside. */
export interface ExplainedFence {
  readonly _id: string;
  readonly tag?: string;
  readonly externalId?: string;
  readonly description?: string;
  readonly distance_m?: number;
  /** Share of the accuracy disc that is inside the fence. */
  readonly overlap?: number;
  readonly zone?: (typeof zoneNames)[number];
  readonly entryConfidence?: number;
  readonly exitConfidence?: number;
  readonly wasInside: boolean;
  readonly rule: { readonly code: RuleCode; readonly text: string };
}

/** What one location would do, without any effect. `POST /v1/explain` answers with it. */
export interface Explanation {
  /** Time of the location, ISO 8601. All rules are evaluated at this time. */
  readonly evaluatedAt: string;
  readonly evaluation: {
    readonly result: Evaluation['result'];
    readonly transitions: {
      readonly type: Transition['type'];
      readonly _id: string;
      readonly confidence: number;
      /** Minutes; absent for entries. */
      readonly duration?: number;
      readonly currentlyOperating?: boolean;
    }[];
  };
  readonly notice?: { readonly code: NoticeCode; readonly text: string };
  /**
   * First the fences that the device was inside, then the others, nearest first. Only the requested one if there is
   * one.
   */
  readonly fences: ExplainedFence[];
}

/** Fences within this reach are explained even if the location cannot make an event of them. */
const nearbyReachM = 1_000;
const maxNearbyFences = 10;
/** Fences beyond that reach, explained if none is within it. */
const maxFarFences = 5;
const maxFences = 1_000;

/**
 * Explains a location, without the names of the fences. Yields while it searches the nearest ones, and after each
 * fence: a polygon of 2,000 points takes a millisecond. `geofence` is the _id of the only fence to explain; undefined:
 * all fences that are near or that the device was inside.
 */
export function* explain(
  location: Location,
  state: DeviceState | undefined,
  context: MonitoredContext,
  geofence?: string,
): Steps<Explanation> {
  const evaluation = evaluate(location, state, context);
  const { geofences: visits } = resolveUser(location, state?.users ?? []);
  const changed = new Set(evaluation.transitions.map(({ id }) => id));
  const explainFence = (id: string, visit?: Visit): ExplainedFence => {
    const row = context.fences.rowOf(id);
    const code = (): RuleCode => {
      const verdict = ruleCode(row, visit, location, context);
      return verdict === 'entered' && !changed.has(id) ? 'too_many_geofences' : verdict;
    };
    return {
      _id: id,
      ...(row >= 0 && measure(row, location, context)),
      wasInside: visit !== undefined,
      rule: rule(evaluation.result === 'applied' ? code() : unevaluated(evaluation.result)),
    };
  };
  // A visit to a deleted fence does not count for a later fence with the same id.
  const current = visits.filter((visit) => {
    const row = context.fences.rowOf(visit.id);
    return row < 0 || isOfGeneration(visit, context.fences.generation(row));
  });
  const inside: ExplainedFence[] = [];
  for (const visit of current) {
    inside.push(explainFence(visit.id, visit));
    yield;
  }
  const known = new Set(current.map(({ id }) => id));
  const explanation = {
    evaluatedAt: isoTime(location.occurredAt),
    evaluation: { result: evaluation.result, transitions: evaluation.transitions.map(transitionJson) },
  };
  if (geofence !== undefined) {
    const isKnown = known.has(geofence) || context.fences.rowOf(geofence) >= 0;
    const unknown: ExplainedFence = { _id: geofence, wasInside: false, rule: rule('no_such_geofence') };
    const requested = isKnown ? (inside.find(({ _id }) => _id === geofence) ?? explainFence(geofence)) : unknown;
    return { ...explanation, fences: [requested] };
  }
  const nearest = yield* nearestTo(location, context);
  const others: ExplainedFence[] = [];
  for (const id of examined(location, context, nearest)) {
    if (known.has(id)) continue;
    others.push(explainFence(id));
    yield;
  }
  others.sort((a, b) => (b.distance_m ?? 0) - (a.distance_m ?? 0));
  return { ...explanation, ...noticeOf(nearest), fences: [...inside, ...others].slice(0, maxFences) };
}

/** Returns a few fences within reach or, if there are none, the nearest ones at any distance. Yields as it searches. */
function* nearestTo({ longitude, latitude }: Location, { fences }: MonitoredContext): Steps<readonly AtDistance[]> {
  function* first(count: number, maxDistanceM?: number): Steps<AtDistance[]> {
    const found: AtDistance[] = [];
    for (const fence of nearestFences(fences, longitude, latitude, { maxDistanceM, accepts: () => true })) {
      if (fence === undefined) yield;
      else found.push(fence);
      if (found.length === count) break;
    }
    return found;
  }
  const near = yield* first(maxNearbyFences, nearbyReachM);
  return near.length > 0 ? near : yield* first(maxFarFences);
}

function noticeOf([nearest]: readonly AtDistance[]): Pick<Explanation, 'notice'> {
  if (nearest === undefined) return notice('no_geofences');
  return nearest.distanceM > nearbyReachM ? notice('no_geofence_near') : {};
}

/** Returns ids of the candidates of evaluation and of the nearest fences. */
function examined(location: Location, context: MonitoredContext, nearest: readonly AtDistance[]): Set<string> {
  const { fences } = context;
  const rows = entryCandidates(location, context).subarray(0, fences.candidateCount);
  return new Set([...Array.from(rows, (row) => fences.idOf(row)), ...nearest.map(({ id }) => id)]);
}

const rule = (code: RuleCode): ExplainedFence['rule'] => ({ code, text: ruleTexts[code] });

const unevaluated = (result: 'repeat' | 'stale'): RuleCode =>
  result === 'repeat' ? 'location_repeated' : 'location_stale';

/** Adds the names of a fence. Its record may have 64 KiB of metadata, so reading a thousand takes a second. */
export function withNames(fence: ExplainedFence, scope: Scope, configuration: ConfigurationReader): ExplainedFence {
  const { _id, ...rest } = fence;
  const record = configuration.storedGeofenceHead(scope, _id);
  if (record === undefined) return fence;
  return { _id, tag: record.tag, externalId: record.externalId, description: record.description, ...rest };
}

function measure(row: number, location: Location, { fences }: MonitoredContext) {
  const { longitude, latitude, accuracy_m } = location;
  const zone = fences.zone(row, longitude, latitude, accuracy_m);
  const isCertain = zone === Zone.apart || zone === Zone.within;
  return {
    distance_m: fences.signedDistance(row, longitude, latitude),
    overlap: isCertain ? Number(zone === Zone.within) : fences.share(row, longitude, latitude, accuracy_m),
    zone: zoneNames[zone],
    entryConfidence: entryConfidence(zone, row, location, fences),
    exitConfidence: exitConfidence(zone, row, location, fences),
  };
}

const zoneOf = (row: number, location: Location, { fences }: Pick<EvaluationContext, 'fences'>): Zone =>
  fences.zone(row, location.longitude, location.latitude, location.accuracy_m);

/** Returns the deciding rule. `row` is -1 for a deleted fence. */
function ruleCode(row: number, visit: Visit | undefined, location: Location, context: EvaluationContext): RuleCode {
  if (row < 0) return 'deleted';
  const verdict = visit
    ? judgeInside(row, visit, location, context)
    : judgeOutside(row, zoneOf(row, location, context), location, context);
  switch (verdict) {
    case 'gone':
      return 'past_delete_after';
    case 'disabled':
      return context.fences.rules(row).enabled ? 'past_disable_after' : 'disabled';
    case 'not_for_user':
      return 'not_for_this_user';
    case 'not_for_request':
      return 'not_for_this_address';
    case 'confidence_too_low':
      return 'confidence_below_minimum';
    case 'outside':
      return outsideCode(row, location, context);
    case 'inside':
      return insideCode(row, visit!, location, context);
    default:
      return verdict;
  }
}

const outsideCode = (row: number, location: Location, context: EvaluationContext): RuleCode =>
  zoneOf(row, location, context) === Zone.near ? 'within_accuracy_only' : 'stays_outside_boundary';

/** Returns why a device that is still inside makes no event. */
function insideCode(row: number, visit: Visit, location: Location, { fences, settings }: EvaluationContext): RuleCode {
  if (zoneOf(row, location, { fences }) < Zone.partly) return 'still_within_buffer';
  const threshold_min = fences.rules(row).dwellThreshold_min ?? settings.defaultDwellThreshold;
  if (!settings.dwellEvents || threshold_min === null) return 'already_inside';
  return visit.dwelled ? 'already_dwelled' : 'dwell_threshold_not_reached';
}

const transitionJson = ({ type, id, confidence, durationMs, currentlyOperating }: Transition) => ({
  type,
  _id: id,
  confidence,
  ...(durationMs !== null && { duration: durationMs / minuteMs }),
  ...(currentlyOperating !== null && { currentlyOperating }),
});
