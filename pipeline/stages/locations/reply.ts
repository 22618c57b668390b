/** What a waiting request is told of its location. Built after the commit: nobody hears of what did not happen. */
import type { User } from '../../../schemas/json/user.js';
import type { Event, Location, OutcomeResult, UserState } from '../../../schemas/records.js';
import { eventJson } from '../../../schemas/wire/user.js';
import type { ConfigurationReader, SpatialQueries } from '../../catalog/types.js';
import type { TrackReply } from '../../ports.js';
import { userOf } from '../../records/user.js';

const nearbyLimit = 10;
const nearbyRadiusM = 10_000;

/** A location whose sender waits, and what became of it. */
export interface Answered {
  readonly location: Location;
  readonly replyTo: string;
  readonly result: OutcomeResult;
  readonly user: UserState;
  readonly events: readonly Event[];
  readonly notEntered: number;
}

export interface ReplySources {
  readonly configuration: ConfigurationReader;
  /** Without it, replies say nothing of nearby geofences. */
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

/** The reply to a location that others of the same request follow. */
export const eventsReply = ({ location, result, events, notEntered }: Answered): TrackReply => ({
  recordId: location.id,
  result,
  events: events.map(eventJson),
  ...(notEntered > 0 && { notEntered }),
});

/** The reply to the last location of a request, events in the order they happened. */
export async function trackReply(answered: Answered, sources: ReplySources): Promise<TrackReply & { user: User }> {
  const { location, user } = answered;
  const reply = {
    ...eventsReply(answered),
    user: userOf(user, location, sources.configuration) as User,
  };
  if (!location.details?.nearbyGeofences || !sources.searchGeofences) return reply;
  return { ...reply, nearbyGeofences: await nearbyGeofences(location, sources.searchGeofences) };
}
