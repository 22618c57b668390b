/**
 * What an answer tells its caller of users. A secret key reads everything, so it is told everything. A publishable key
 * is in every app and page: whoever has it can name any device, so it learns nothing of a user but what its own request
 * said, and what the wire format of SDKs needs: the record's `_id` and `createdAt`, and the geofences and beacons that
 * the device is inside of after the location.
 */

import type { Scope, SpatialQueries } from '../../pipeline/catalog/types.js';
import { profileAfter } from '../../pipeline/evaluation/users.js';
import type { TrackReply } from '../../pipeline/ports.js';
import type { GeofenceSummary } from '../../schemas/json/geofence.js';
import type { Event, User, UserProfile } from '../../schemas/json/user.js';
import type { Location } from '../../schemas/records.js';
import { userJson } from '../../schemas/wire/user.js';
import type { Caller } from './keys.js';

/** Returns whether a key may read all that is stored about users. */
export const readsEverything = ({ kind }: Pick<Caller, 'kind'>): boolean => kind === 'secret';

/** The fields of a profile that the location itself carries. */
const sentProfile = ({ details }: Location): UserProfile =>
  JSON.parse(profileAfter(null, details) ?? '{}') as UserProfile;

/** The event of a location, about the user as the location named it. */
function eventAsSent(event: Event, location: Location): Event {
  const { installId, metadata, locationAuthorization, locationAccuracyAuthorization } = sentProfile(location);
  const user = {
    ...(event.user?._id !== undefined && { _id: event.user._id }),
    ...(location.userId !== null && { userId: location.userId }),
    deviceId: location.deviceId,
    ...(installId !== undefined && { installId }),
    ...(metadata !== undefined && { metadata }),
    ...(locationAuthorization !== undefined && { locationAuthorization }),
    ...(locationAccuracyAuthorization !== undefined && { locationAccuracyAuthorization }),
  };
  return { ...event, user };
}

/**
 * Is there a newer location of the user? Then what the user is inside of tells where it went after the one that was
 * sent.
 */
const isLate = (user: User, location: Location): boolean => Date.parse(user.updatedAt) > location.occurredAt;

/** Builds the answers to one caller's locations. */
export interface Disclosure {
  user(user: User, location: Location): Promise<User>;
  events(reply: TrackReply, location: Location): Event[];
  geofences(geofences: readonly object[]): object[];
}

const everything: Disclosure = {
  user: async (user) => user,
  events: ({ events }) => events,
  geofences: (geofences) => [...geofences],
};

/** For whom a geofence is made is an owner's knowledge of users. */
function withoutUsers(geofence: object): object {
  const {
    userId: _,
    userIds: __,
    ip: ___,
    ...rest
  } = geofence as { userId?: unknown; userIds?: unknown; ip?: unknown };
  return rest;
}

function onlyWhatWasSent(context: SpatialQueries['context']): Disclosure {
  const geofencesAt = async ({
    longitude,
    latitude,
    accuracy_m,
    occurredAt,
    ...scope
  }: Location & Scope): Promise<GeofenceSummary[]> => {
    const { project, environment } = scope;
    const place = { longitude, latitude, accuracyM: accuracy_m, atMs: occurredAt };
    return (await context({ project, environment, ...place })) as GeofenceSummary[];
  };
  return {
    async user(user, location) {
      const { geofences, beacons } = isLate(user, location)
        ? { geofences: await geofencesAt(location), beacons: [] }
        : user;
      const { environment, deviceId, userId } = location;
      const identity = { id: user._id, environment, deviceId, userId, createdAt: Date.parse(user.createdAt) };
      return userJson({ ...identity, profile: sentProfile(location), last: location, geofences, beacons });
    },
    events: ({ events }, location) => events.map((event) => eventAsSent(event, location)),
    geofences: (geofences) => geofences.map(withoutUsers),
  };
}

/** The disclosure of each kind of key. `context` finds the geofences at a point. */
export function createDisclosures(context: SpatialQueries['context']): (caller: Pick<Caller, 'kind'>) => Disclosure {
  const restricted = onlyWhatWasSent(context);
  return (caller) => (readsEverything(caller) ? everything : restricted);
}
