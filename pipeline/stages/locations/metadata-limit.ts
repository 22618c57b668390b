/**
 * Bounds the metadata of the events of one location. Each event has a copy of the metadata of its user and of its
 * geofence or beacon, so a location that enters a thousand geofences of 64 kB would make 66 MB of events.
 *
 * Every event is there. Those with the least metadata have theirs first: an event of an ordinary geofence has it,
 * whatever else the location enters. Pure.
 */
import type { UserProfile } from '../../../schemas/json/user.js';
import type { Event } from '../../../schemas/records.js';

/**
 * Characters of metadata that the events of one location have together in topics, webhooks and history. A location has
 * up to some 2,000 events: one whose metadata and profile have 2 kB always has them.
 */
export const maxEventMetadata = 4 * 2 ** 20;

/** Returns the indices of the events whose metadata does not fit. `characters`: how much metadata each event has. */
export function beyondLimit(characters: readonly number[], maxCharacters: number): ReadonlySet<number> {
  const total = characters.reduce((sum, each) => sum + each, 0);
  if (total <= maxCharacters) return none;
  const fewestFirst = [...characters.keys()].sort((a, b) => characters[a]! - characters[b]!);
  let used = 0;
  return new Set(
    fewestFirst.filter((index) => {
      used += characters[index]!;
      return used > maxCharacters;
    }),
  );
}

const none: ReadonlySet<number> = new Set();

/** Returns a profile, which is JSON, without the metadata of the user. */
export const profileWithoutMetadata = (profile: string | null): string | null =>
  profile && JSON.stringify({ ...(JSON.parse(profile) as UserProfile), metadata: undefined });

/** Returns the events of one location with at most so many characters of metadata together. */
export function limitMetadata(events: readonly Event[], maxCharacters: number): readonly Event[] {
  const omitted = beyondLimit(events.map(charactersOf), maxCharacters);
  if (omitted.size === 0) return events;
  // All have the same user.
  const profile = profileWithoutMetadata(events[0]?.user?.profile ?? null);
  return events.map((event, index) => (omitted.has(index) ? withoutMetadata(event, profile) : event));
}

const charactersOf = ({ user, geofence, beacon }: Event): number =>
  (user?.profile?.length ?? 0) + (geofence?.metadata?.length ?? 0) + (beacon?.metadata?.length ?? 0);

const withoutMetadata = ({ user, geofence, beacon, ...event }: Event, profile: string | null): Event => ({
  ...event,
  user: user && { ...user, profile },
  geofence: geofence && { ...geofence, metadata: null },
  beacon: beacon && { ...beacon, metadata: null },
  metadataOmitted: true,
});
