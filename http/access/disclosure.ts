/**
 * What an answer may tell its caller about users. A secret key reads everything. A publishable key is in every app and
 * page, so anyone may hold it and name any device. About a user it learns only what its own request said and what the
 * wire format requires. That is the record's `_id` and `createdAt`, and the geofences and beacons that the device is
 * inside of after the location.
 */
import type { SpatialQueries } from '../../pipeline/catalog/types.js';
import { profileAfter } from '../../pipeline/evaluation/users.js';
import type { TrackReply } from '../../pipeline/ports.js';
import type { GeofenceSummary } from '../../schemas/json/geofence.js';
import type { Event, User, UserProfile } from '../../schemas/json/user.js';
import type { Location } from '../../schemas/records.js';
import { userJson } from '../../schemas/wire/user.js';
import type { Caller } from './keys.js';

/** Returns whether a key may read all that is stored about users. */
export const readsEverything = ({ kind }: Pick<Caller, 'kind'>): boolean => kind === 'secret';

/** Returns the profile that the location itself carries. */
const sentProfile = ({ details }: Location): UserProfile =>
  JSON.parse(profileAfter(null, details) ?? '{}') as UserProfile;

/** Returns the event with only what the location said about the user. */
function eventAsSent(event: Event, location: Location): Event {
  const { installId, metadata, locationAuthorization, locationAccuracyAuthorization } = sentProfile(location);
  const user = {
    ...(event.user?._id !== undefined && { _id: event.user._id }),
    ...(location.userId !== null && { userId: location.userId }),
    deviceId: location.deviceId,
    ...(installId !== undefined && { installId }),
    ...(metadata !== undefined && !event.metadataOmitted && { metadata }),
    ...(locationAuthorization !== undefined && { locationAuthorization }),
    ...(locationAccuracyAuthorization !== undefined && { locationAccuracyAuthorization }),
  };
  return { ...event, user };
}

/** Returns whether the user has a newer location. Then the geofences of the user would tell where it went later. */
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

/** Returns the geofence without the users and addresses that it is for. Only its owner may know them. */
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
  const geofencesAt = async (location: Location): Promise<GeofenceSummary[]> => {
    const { project, environment, longitude, latitude, occurredAt: atMs, userId, ip } = location;
    const query = { project, environment, longitude, latitude, atMs, sender: { userId, ip } };
    return (await context(query)) as GeofenceSummary[];
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

/** Returns a function that picks the disclosure for a caller. `context` finds the geofences at a point. */
export function createDisclosures(context: SpatialQueries['context']): (caller: Pick<Caller, 'kind'>) => Disclosure {
  const restricted = onlyWhatWasSent(context);
  return (caller) => (readsEverything(caller) ? everything : restricted);
}
