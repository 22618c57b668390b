/**
 * A user's timeline: locations with the events that they caused, and events without a location. And why each event
 * happened or did not, in words. Pure.
 */
import type { Event, ExplainedFence, Explanation, UserLocation } from '../../client/types';
import { counted } from '../components/counts';
import { distanceText, durationText, eventTitle, markOf } from '../live/event-words';

interface LocationItem {
  readonly kind: 'location';
  readonly at: string;
  readonly location: UserLocation;
  /** Those of `location.events` that are loaded. */
  readonly events: readonly Event[];
}
/** A row of the timeline. An event is one only if its location is not listed. */
export type Item = LocationItem | { readonly kind: 'event'; readonly at: string; readonly event: Event };

/** Returns the items, newest first. Each event is at its location, or else by itself; none is there twice. */
export function timelineOf(locations: readonly UserLocation[], events: readonly Event[]): readonly Item[] {
  const byId = new Map(events.map((event) => [event._id, event]));
  const items: Item[] = locations.map((location) => {
    const caused = location.events.flatMap((id) => {
      const event = byId.get(id);
      byId.delete(id);
      return event ? [event] : [];
    });
    return { kind: 'location', at: location.at, location, events: caused };
  });
  for (const event of byId.values()) items.push({ kind: 'event', at: event.createdAt, event });
  return items.sort((one, other) => Date.parse(other.at) - Date.parse(one.at));
}

/** Tests whether an item is an event, or a location that caused one. */
export const hasEvents = (item: Item): boolean => item.kind === 'event' || item.location.events.length > 0;

/** Returns what kind of event the location caused first. */
export const locationMark = ({ location, events: [first] }: LocationItem): ReturnType<typeof markOf> | 'none' =>
  first ? markOf(first) : location.events.length > 0 ? 'other' : 'none';

const resultTexts: Readonly<Record<UserLocation['result'], string>> = {
  applied: 'No event',
  repeat: 'Repeated: changes nothing',
  stale: 'Older than the one before: not evaluated',
};

/** Says how many events the location caused, or why none. The events themselves say more, when they are loaded. */
export function locationTitle({ location: { events, result } }: LocationItem): string {
  return events.length === 0 ? resultTexts[result] : counted(events.length, 'event');
}

/** A pause of less is no gap, however often the device reports. */
const minGapMs = 15 * 60_000;
/** A device that reports every half an hour has no gaps of half an hour. */
const gapIntervals = 5;

/**
 * Returns the ways between locations, which come newest first: a way ends where the device was not heard of for long.
 * Nobody knows where it was meanwhile, and a straight line would say so.
 */
export function pathsOf(locations: readonly UserLocation[]): readonly (readonly UserLocation[])[] {
  const timeOf = ({ at }: UserLocation): number => Date.parse(at);
  const sorted = locations
    .filter(({ result }) => result === 'applied')
    .toReversed()
    .sort((a, b) => timeOf(a) - timeOf(b));
  const gaps = sorted.slice(1).map((each, index) => timeOf(each) - timeOf(sorted[index]!));
  const usualMs = gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? 0;
  const maxMs = Math.max(minGapMs, gapIntervals * usualMs);
  const paths: UserLocation[][] = [];
  for (const [index, location] of sorted.entries()) {
    if (index === 0 || gaps[index - 1]! > maxMs) paths.push([]);
    paths.at(-1)!.push(location);
  }
  return paths;
}

/** What happened with one geofence at a location, and why. */
export interface Reason {
  readonly fence: ExplainedFence;
  readonly name: string;
  /**
   * `happened`: the event is recorded, and the current rules agree. `recorded only`: they would not make it now. `not
   * recorded`: they would make it now, and it is not recorded. `none`: no event, and none is recorded.
   */
  readonly verdict: 'happened' | 'recorded only' | 'not recorded' | 'none';
  readonly event: Event | undefined;
  readonly title: string;
  readonly text: string;
}

const verbs: Readonly<Record<string, string>> = {
  entered: 'user.entered_geofence',
  exited: 'user.exited_geofence',
  dwelled: 'user.dwelled_in_geofence',
};

const titles: Readonly<Record<string, string>> = { entered: 'Entered', exited: 'Left', dwelled: 'Dwelled in' };

/** Says where the device was, with numbers. */
function placeText({ distance_m, overlap = 0, zone }: ExplainedFence, accuracyM: number): string {
  if (distance_m === undefined) return '';
  const side = `${distanceText(Math.abs(distance_m))} ${distance_m >= 0 ? 'inside' : 'outside'} the boundary`;
  const accuracy = `±${Math.round(accuracyM)} m`;
  if (zone === 'within') return `${side}. The whole circle of accuracy (${accuracy}) lies inside. `;
  if (zone === 'apart') return `${side}. The circle of accuracy (${accuracy}) does not reach it. `;
  return `${side}. ${Math.round(overlap * 100)} % of the circle of accuracy (${accuracy}) lies inside. `;
}

function confidenceText({ rule, entryConfidence, exitConfidence, wasInside }: ExplainedFence): string {
  const isAboutExit = rule.code === 'exited' || (rule.code === 'confidence_below_minimum' && wasInside);
  const confidence = isAboutExit ? exitConfidence : entryConfidence;
  const matters = ['entered', 'exited', 'dwelled', 'confidence_below_minimum', 'not_stopped'].includes(rule.code);
  return confidence !== undefined && matters ? `Confidence ${confidence} of 3. ` : '';
}

/** Says since when the device has been inside. */
function visitText(fence: ExplainedFence, since: string | undefined, at: string): string {
  if (!fence.wasInside || since === undefined) return '';
  const minutes = (Date.parse(at) - Date.parse(since)) / 60_000;
  return minutes > 0 ? `Inside for ${durationText(minutes)} before. ` : '';
}

const order: Readonly<Record<Reason['verdict'], number>> = {
  happened: 0,
  'recorded only': 1,
  'not recorded': 2,
  none: 3,
};

interface Explained {
  readonly location: UserLocation;
  readonly before?: { readonly geofences: readonly { readonly _id: string; readonly since: string }[] };
  readonly explanation: Explanation;
  readonly events: readonly Event[];
}

/**
 * Joins an explanation with the recorded events: one reason for each geofence that was examined or has an event, the
 * events first, then by distance.
 */
export function reasonsOf({ location, before, explanation, events }: Explained): readonly Reason[] {
  const since = new Map(before?.geofences.map((visit) => [visit._id, visit.since]));
  const open = new Set(events.filter(({ geofence }) => geofence !== undefined));
  const reasons = explanation.fences.map((fence): Reason => {
    const type = verbs[fence.rule.code];
    const own = [...open].filter(({ geofence }) => geofence?._id === fence._id);
    const event = own.find((each) => each.type === type) ?? own[0];
    if (event) open.delete(event);
    const isAgreed = event !== undefined && event.type === type;
    const verdict = isAgreed ? 'happened' : event ? 'recorded only' : type ? 'not recorded' : 'none';
    const name = event?.geofence?.description ?? fence.description ?? fence.externalId ?? fence._id;
    const did = titles[fence.rule.code];
    const title = event ? eventTitle(event) : did ? `${did} ${name}: not recorded` : `No event for ${name}`;
    const changed = isAgreed || (!event && !type) ? '' : changedText(verdict);
    const numbers = `${placeText(fence, location.locationAccuracy)}${confidenceText(fence)}`;
    const text = `${numbers}${visitText(fence, since.get(fence._id), location.at)}${fence.rule.text}${changed}`;
    return { fence, name, verdict, event, title, text };
  });
  // An event of a geofence that is gone, or a second event of one geofence.
  for (const event of open) {
    const { _id, description } = event.geofence!;
    const fence: ExplainedFence = {
      _id,
      description,
      wasInside: event.type !== 'user.entered_geofence',
      rule: { code: 'no_such_geofence', text: '' },
    };
    const text = `Confidence ${event.confidence} of 3. ${changedText('recorded only').trim()}`;
    reasons.push({ fence, name: description, verdict: 'recorded only', event, title: eventTitle(event), text });
  }
  return reasons
    .map((reason, index) => ({ reason, index }))
    .sort((one, other) => order[one.reason.verdict] - order[other.reason.verdict] || one.index - other.index)
    .map(({ reason }) => reason);
}

const changedText = (verdict: Reason['verdict']): string =>
  verdict === 'recorded only'
    ? ' The event is recorded, but the current geofences and settings would not make it: they have changed since.'
    : ' The current geofences and settings would make this event. It is not recorded, so they have changed since.';
