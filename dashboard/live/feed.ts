/** The newest events of a stream: each once, newest first, at most so many. Pure. */
import type { Event } from '../../client/types';

export const maxEvents = 2_000;

export interface Arrived {
  readonly event: Event;
  /** Epoch ms by the clock of this browser. */
  readonly arrivedAtMs: number;
}

export interface Feed {
  /** Newest first. */
  readonly shown: readonly Arrived[];
  /** Arrived while the reader had paused, newest first. */
  readonly held: readonly Arrived[];
}

export const emptyFeed: Feed = { shown: [], held: [] };

/** Adds events in the order of their arrival. An event that is there already stays where it is. */
export function addArrived(feed: Feed, arrived: readonly Arrived[], isPaused: boolean): Feed {
  const known = new Set([...feed.shown, ...feed.held].map(({ event }) => event._id));
  const fresh: Arrived[] = [];
  for (const each of arrived) {
    if (known.has(each.event._id)) continue;
    known.add(each.event._id);
    fresh.unshift(each);
  }
  if (fresh.length === 0) return feed;
  if (isPaused) return { ...feed, held: [...fresh, ...feed.held].slice(0, maxEvents) };
  return { shown: [...fresh, ...feed.held, ...feed.shown].slice(0, maxEvents), held: [] };
}

/** Shows what was held. */
export const resume = ({ shown, held }: Feed): Feed =>
  held.length === 0 ? { shown, held } : { shown: [...held, ...shown].slice(0, maxEvents), held: [] };

export interface EventFilter {
  readonly type: string;
  readonly tag: string;
  readonly user: string;
}

const has = (text: string | undefined, part: string): boolean => text?.toLowerCase().includes(part) ?? false;

/** Tests whether the event has the type, a tag with this prefix, and a user or device whose id has the text. */
export function matchesFilter({ type, geofence, beacon, user }: Event, filter: EventFilter): boolean {
  const [tag, person] = [filter.tag.trim().toLowerCase(), filter.user.trim().toLowerCase()];
  if (filter.type !== '' && type !== filter.type) return false;
  if (tag !== '' && !(geofence ?? beacon)?.tag?.toLowerCase().startsWith(tag)) return false;
  return person === '' || has(user?.userId, person) || has(user?.deviceId, person) || user?._id === person;
}

/**
 * Returns the middle of the times from the receipt of a location to the arrival of its event, in ms; undefined without
 * events. `clockAheadMs` is how far this browser's clock is ahead of the server's.
 */
export function medianLagMs(arrived: readonly Arrived[], clockAheadMs: number): number | undefined {
  const lags = arrived
    .map(({ event, arrivedAtMs }) => arrivedAtMs - clockAheadMs - Date.parse(event.actualCreatedAt))
    .sort((a, b) => a - b);
  const middle = lags[Math.floor(lags.length / 2)];
  return middle === undefined ? undefined : Math.max(0, middle);
}
