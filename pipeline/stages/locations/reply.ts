/**
 * Builds the reply to a waiting request, after the commit: a request never learns of an effect that was not committed.
 */
import type { User } from '../../../schemas/json/user.js';
import type { Event, Location, OutcomeResult, UserState } from '../../../schemas/records.js';
import { eventJson } from '../../../schemas/wire/user.js';
import { maxListedMetadata } from '../../catalog/queries/summaries.js';
import type { ConfigurationReader, SpatialQueries } from '../../catalog/types.js';
import type { TrackReply } from '../../ports.js';
import { userInTurns } from '../../records/user.js';
import { limitMetadata } from './metadata-limit.js';

const nearbyLimit = 10;
const nearbyRadiusM = 10_000;

/** An evaluated location whose request waits for a reply. */
export interface AwaitedLocation {
  readonly location: Location;
  readonly replyTo: string;
  readonly result: OutcomeResult;
  readonly user: UserState;
  readonly events: readonly Event[];
  readonly notEntered: number;
}

type NearbyQuery = Parameters<SpatialQueries['searchGeofences']>[0];

/** What a reply shows beside the outcome. */
export interface ReplySources {
  readonly configuration: ConfigurationReader;
  /** Resolves to undefined for a reply without nearby geofences. Without it, no reply has them. */
  readonly searchNearby?: (query: NearbyQuery) => Promise<object[] | undefined>;
}

const nearbyGeofences = (
  location: Location,
  search: NonNullable<ReplySources['searchNearby']>,
): Promise<object[] | undefined> =>
  search({
    project: location.project,
    environment: location.environment,
    longitude: location.longitude,
    latitude: location.latitude,
    limit: nearbyLimit,
    radiusM: nearbyRadiusM,
    includeGeometry: false,
    atMs: location.occurredAt,
    userId: location.userId,
  });

/** Builds the reply to a location that is not the last of its request. */
export const eventsReply = ({ location, result, events, notEntered }: AwaitedLocation): TrackReply => ({
  recordId: location.id,
  result,
  events: limitMetadata(events, maxListedMetadata).map(eventJson),
  ...(notEntered > 0 && { notEntered }),
});

/** Builds the reply to the last location of a request. */
export async function trackReply(
  awaited: AwaitedLocation,
  sources: ReplySources,
): Promise<TrackReply & { user: User }> {
  const { location, user } = awaited;
  // Its events are made before it waits for a turn: they would keep their metadata in memory until then.
  const events = eventsReply(awaited);
  const reply = { ...events, user: (await userInTurns(user, location, sources.configuration)) as User };
  if (!location.details?.nearbyGeofences || !sources.searchNearby) return reply;
  const found = await nearbyGeofences(location, sources.searchNearby);
  return { ...reply, ...(found && { nearbyGeofences: found }) };
}
