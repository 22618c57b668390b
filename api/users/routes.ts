/** Serves users: list and look up. */
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import { leavingOf } from '../../http/access/revocation.js';
import { answerOf, type ById, described, found, listOf, success } from '../../http/describe.js';
import { accepted, type RawFields } from '../../http/fields/reader.js';
import { Id, Timestamp } from '../../schemas/json/common.js';
import { Event, User } from '../../schemas/json/user.js';
import type { ApiDependencies } from '../dependencies.js';
import { Explanation } from '../explain/schema.js';
import { boundedReads } from '../history.js';
import { cursorParameter, limitOfTimesParameter, limitParameter, timeParameters } from '../lists.js';
import { sendPage } from '../page.js';
import { explainLocation, listLocations, readHistoryQuery, UserLocation } from './history.js';
import { listPositions, maxPositions, readPositionQuery, UserPosition } from './positions.js';
import { findUser, listUsers, readUserQuery } from './users.js';

const tag = 'users';
const config = { authority: 'secret', limit: 'management' } as const;

/** Query parameters of a list of users, for the API description. */
export const userParameters = Type.Object({
  ...limitOfTimesParameter,
  ...cursorParameter,
  ...timeParameters('updatedBefore', 'updatedAfter'),
});

const userParameter = Type.Object({ id: Type.String({ description: '`_id`, `userId` or `deviceId`' }) });

/** Returns the dependencies of one request, whose client leaves with the signal. */
const readsOf = (dependencies: ApiDependencies, signal: AbortSignal) => ({
  ...dependencies,
  analytics: boundedReads(dependencies.analytics, { signal }),
  spatial: {
    explain: (query: Parameters<typeof dependencies.spatial.explain>[0]) => dependencies.spatial.explain(query, signal),
  },
});

const userOf = async (reads: Parameters<typeof findUser>[0], request: FastifyRequest<ById>): Promise<User> =>
  found(await findUser(reads, callerOf(request), request.params.id), 'user');

/** Adds the routes that list and get users. */
function addUserRoutes(app: FastifyInstance, dependencies: ApiDependencies): void {
  app.get('/v1/users', {
    config,
    schema: described({
      operationId: 'listUsers',
      tag,
      summary: 'List users, last updated first',
      querystring: Type.Object({
        ...userParameters.properties,
        search: Type.Optional(
          Type.String({ description: 'A part of `userId`, `deviceId`, description or metadata, or the `_id`' }),
        ),
      }),
      answer: listOf({ users: Type.Array(User) }, { cursor: true }),
    }),
    handler: async (request, reply) => {
      const query = accepted(readUserQuery(request.query as RawFields));
      return sendPage('history', request, reply, (leaving) =>
        listUsers(readsOf(dependencies, leaving), callerOf(request), query),
      );
    },
  });

  app.get<ById>('/v1/users/:id', {
    config,
    schema: described({
      operationId: 'getUser',
      tag,
      summary: 'Get a user',
      description: 'Of several users with the same userId or deviceId returns the last updated one.',
      params: userParameter,
      answer: answerOf({ user: User }),
      failures: [404],
    }),
    handler: async (request, reply) => ({
      meta: success,
      user: await userOf(readsOf(dependencies, leavingOf(reply)), request),
    }),
  });
}

/** Adds the route of the last positions. */
function addPositionRoute(app: FastifyInstance, dependencies: ApiDependencies): void {
  app.get('/v1/positions', {
    config,
    schema: described({
      operationId: 'listPositions',
      tag,
      summary: 'List the last positions of users, last received first',
      description:
        'For maps that follow many devices: ask again with the greatest `receivedAt` as `after`. Positions appear ' +
        'here about a second after they were received.',
      querystring: Type.Object({
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxPositions, default: 1_000 })),
        ...timeParameters('after'),
      }),
      answer: listOf({ positions: Type.Array(UserPosition) }),
    }),
    handler: async (request, reply) => {
      const query = accepted(readPositionQuery(request.query as RawFields));
      return listPositions(
        boundedReads(dependencies.analytics, { signal: leavingOf(reply) }),
        callerOf(request),
        query,
      );
    },
  });
}

/** Adds the routes of the locations of a user. */
function addLocationRoutes(app: FastifyInstance, dependencies: ApiDependencies): void {
  app.get<ById>('/v1/users/:id/locations', {
    config,
    schema: described({
      operationId: 'listUserLocations',
      tag,
      summary: 'List the locations of a user, newest first',
      description: 'By the time of the location. Locations are stored for 7 days.',
      params: userParameter,
      querystring: Type.Object({
        ...limitParameter,
        ...cursorParameter,
        ...timeParameters('before', 'after'),
      }),
      answer: listOf({ locations: Type.Array(UserLocation) }, { cursor: true }),
      failures: [404],
    }),
    handler: async (request, reply) => {
      const query = accepted(readHistoryQuery(request.query as RawFields));
      return sendPage('history', request, reply, async (leaving) => {
        const reads = readsOf(dependencies, leaving);
        return listLocations(reads, callerOf(request), await userOf(reads, request), query);
      });
    },
  });

  app.get<{ Params: { id: string; locationId: string } }>('/v1/users/:id/locations/:locationId/explanation', {
    config: { authority: 'secret', limit: 'query' },
    schema: described({
      operationId: 'explainUserLocation',
      tag,
      summary: 'Explain the events that a stored location caused, and those that it did not cause',
      description:
        'As `POST /v1/explain`, with the state of the user before the location. The current geofences and settings ' +
        'are used. `before` is absent if no earlier location is stored: the user may have been inside something. ' +
        'Ranged beacons are not stored, so events of beacons are in `events` only.',
      params: Type.Object({ ...userParameter.properties, locationId: Id }),
      answer: answerOf({
        location: UserLocation,
        before: Type.Optional(
          Type.Object({ at: Timestamp, geofences: Type.Array(Type.Object({ _id: Id, since: Timestamp })) }),
        ),
        explanation: Explanation,
        events: Type.Array(Event),
      }),
      failures: [404],
    }),
    handler: async (request, reply) => {
      const reads = readsOf(dependencies, leavingOf(reply));
      const user = await userOf(reads, request);
      const explained = await explainLocation(reads, callerOf(request), user, request.params.locationId);
      return { meta: success, ...found(explained, 'location') };
    },
  });
}

/** Serves users, their last positions and their histories, and explains one location of a history. */
export const userRoutes =
  (dependencies: ApiDependencies): FastifyPluginAsync =>
  async (app) => {
    addUserRoutes(app, dependencies);
    addPositionRoute(app, dependencies);
    addLocationRoutes(app, dependencies);
  };
