/** The newest events of a stream: each once, newest first, at most so many. Pure. */
import type { Event } from '../../client/types';

/** Bound of each list of events. Older ones are counted, and left out. */
export const maxEvents = 2_000;

/** An event, and when this page got it. */
export interface Arrived {
  readonly event: Event;
  /** Epoch ms by the clock of this browser. */
  readonly arrivedAtMs: number;
}

interface Feed {
  /** Newest first. */
  readonly shown: readonly Arrived[];
  /** Arrived while the reader had paused, newest first. */
  readonly held: readonly Arrived[];
  /** Number of older events that are in neither list, because each is bounded. */
  readonly dropped: number;
}

export const emptyFeed: Feed = { shown: [], held: [], dropped: 0 };

const bounded = (events: readonly Arrived[]) => ({
  kept: events.slice(0, maxEvents),
  dropped: Math.max(0, events.length - maxEvents),
});

/** What has arrived since the feed was last extended: the newest events, at most twice as many as it shows. */
interface Inbox {
  add(arrived: Arrived): void;
  /** Returns the events in the order of their arrival, and how many earlier ones were dropped, and forgets both. */
  take(): { readonly arrived: readonly Arrived[]; readonly dropped: number };
}

/** Creates the inbox of a page, whose timers hardly run while it is hidden. */
export function createInbox(): Inbox {
  let waiting: Arrived[] = [];
  let dropped = 0;
  return {
    add(arrived) {
      waiting.push(arrived);
      // One cut for many events.
      if (waiting.length > 2 * maxEvents) {
        dropped += waiting.length - maxEvents;
        waiting = waiting.slice(-maxEvents);
      }
    },
    take() {
      const taken = { arrived: waiting, dropped };
      waiting = [];
      dropped = 0;
      return taken;
    },
  };
}

/**
 * Adds events in the order of their arrival. An event that is there already stays where it is.
 * @param dropped the number of earlier ones that the inbox could not keep.
 */
export function addArrived(feed: Feed, arrived: readonly Arrived[], isPaused: boolean, dropped = 0): Feed {
  const known = new Set([...feed.shown, ...feed.held].map(({ event }) => event._id));
  const fresh: Arrived[] = [];
  for (const each of arrived) {
    if (known.has(each.event._id)) continue;
    known.add(each.event._id);
    fresh.unshift(each);
  }
  if (fresh.length === 0 && dropped === 0) return feed;
  const before = isPaused ? feed.held : [...feed.held, ...feed.shown];
  const next = bounded([...fresh, ...before]);
  const all = feed.dropped + dropped + next.dropped;
  return isPaused ? { ...feed, held: next.kept, dropped: all } : { shown: next.kept, held: [], dropped: all };
}

/** Shows what was held. */
export function resume(feed: Feed): Feed {
  if (feed.held.length === 0) return feed;
  const { kept, dropped } = bounded([...feed.held, ...feed.shown]);
  return { shown: kept, held: [], dropped: feed.dropped + dropped };
}

/** Which events are shown; empty text: all. */
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
