/** The JSON Schemas of the requests and answers of track, replay and bulk uploads. */
import Type from 'typebox';
import { TrackRequest } from '../http/location/schema.js';
import { Meta } from '../schemas/json/common.js';
import { Geofence } from '../schemas/json/geofence.js';
import { Event, User } from '../schemas/json/user.js';

/** Body of POST /v1/track/replay: locations that a device kept while offline, in any order. */
export const ReplayRequest = Type.Object({ replays: Type.Array(TrackRequest, { minItems: 1, maxItems: 1_000 }) });

const Rejections = (position: string) =>
  Type.Array(Type.Object({ [position]: Type.Integer(), param: Type.String(), message: Type.String() }), {
    description: 'The first hundred rejected locations and their reasons',
  });

/** Answer of POST /v1/track and /v1/track/replay. */
export const TrackAnswer = Type.Object(
  {
    meta: Type.Object({
      code: Type.Integer(),
      pending: Type.Optional(
        Type.Boolean({
          description:
            'True: the location is durable, but its outcome was not known in time; the user is as last known',
        }),
      ),
      notEntered: Type.Optional(
        Type.Integer({
          description:
            'Geofences and beacons that were not entered, because the user has reached the limit of open visits',
        }),
      ),
    }),
    events: Type.Array(Event),
    user: User,
    nearbyGeofences: Type.Optional(Type.Array(Geofence)),
    rejections: Type.Optional(Rejections('index')),
  },
  {
    description:
      'With a publishable key, `user` and the user of each event have what this request said, `_id`, `createdAt`, ' +
      '`geofences` and `beacons`; with a secret key, all that is known',
  },
);

const tally = {
  accepted: Type.Integer({ description: 'Durable locations' }),
  rejected: Type.Integer(),
  rejections: Rejections('line'),
};

/** Answer of POST /v1/locations. */
export const BulkAnswer = Type.Object({ meta: Meta, ...tally });
/** What a failure of POST /v1/locations has beside `meta`, if it was found while the body was read. */
export const tallyOfFailure = Type.Partial(Type.Object(tally)).properties;
