/**
 * Builds the reply to a waiting request, after the commit: a request never learns of an effect that was not committed.
 */
import type { User } from '../../../schemas/json/user.js';
import type { Event, Location, OutcomeResult, UserState } from '../../../schemas/records.js';
import { eventJson } from '../../../schemas/wire/user.js';
import type { ConfigurationReader, SpatialQueries } from '../../catalog/types.js';
import type { TrackReply } from '../../ports.js';
import { userOf } from '../../records/user.js';

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

export interface ReplySources {
  readonly configuration: ConfigurationReader;
  /** Without it, replies have no nearby geofences. */
  readonly searchGeofences?: SpatialQueries['searchGeofences'];
}

const nearbyGeofences = (location: Location, search: SpatialQueries['searchGeofences']): Promise<object[]> =>
  search({
    project: location.project,
    environment: location.environment,
    longitude: location.longitude,
    latitude: location.latitude,
    limit: nearbyLimit,
    radiusM: nearbyRadiusM,
    includeGeometry: false,
    atMs: location.occurredAt,
  });

/** Builds the reply to a location that is not the last of its request. */
export const eventsReply = ({ location, result, events, notEntered }: AwaitedLocation): TrackReply => ({
  recordId: location.id,
  result,
  events: events.map(eventJson),
  ...(notEntered > 0 && { notEntered }),
});

/** Builds the reply to the last location of a request. */
export async function trackReply(
  awaited: AwaitedLocation,
  sources: ReplySources,
): Promise<TrackReply & { user: User }> {
  const { location, user } = awaited;
  const reply = {
    ...eventsReply(awaited),
    user: userOf(user, location, sources.configuration) as User,
  };
  if (!location.details?.nearbyGeofences || !sources.searchGeofences) return reply;
  return { ...reply, nearbyGeofences: await nearbyGeofences(location, sources.searchGeofences) };
}
