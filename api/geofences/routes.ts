/** The routes of geofences, named by id or pair, and of the users who are inside. */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import { type ById, described, found, idParameter, listOf, pairParameters, success } from '../../http/describe.js';
import { accepted, type RawFields } from '../../http/fields/reader.js';
import { isId, placeRecordId } from '../../schemas/ids.js';
import { Geofence, type GeofenceRecord } from '../../schemas/json/geofence.js';
import { User } from '../../schemas/json/user.js';
import { geofenceJson } from '../../schemas/wire/geofence.js';
import type { ApiDependencies } from '../dependencies.js';
import { type Edit, queueOf, sendRevision } from '../edits.js';
import { boundedReads } from '../history.js';
import { sendPage } from '../page.js';
import type { Pair } from '../paired/fields.js';
import { addPairedRoutes } from '../paired/routes.js';
import { exportedGeofence } from '../stored-fields.js';
import { userParameters } from '../users/routes.js';
import { listUsersInside, readUserQuery } from '../users/users.js';
import { geofenceFields, readGeofence } from './fields.js';
import { newPlaceOf, placeProblem, resolveGeometry } from './geometry.js';
import { geofenceId, geofenceRecord, replacedGeofence } from './record.js';

const tag = 'geofences';
const config = { authority: 'secret', limit: 'management' } as const;
const usersAnswer = listOf({ users: Type.Array(User) }, { cursor: true });

/** Serves /v1/geofences: lists, searches, geofences by id or by tag and external id, and the users inside. */
export const geofenceRoutes =
  (dependencies: ApiDependencies, edit: Edit): FastifyPluginAsync =>
  async (app) => {
    const { configuration, clock } = dependencies;
    addPairedRoutes(
      app,
      {
        name: 'geofence',
        orderBy: 'updatedAt',
        fields: geofenceFields,
        answer: Geofence,
        stored: exportedGeofence,
        find: (scope, id) => configuration.geofence(scope, id),
        replaced: (scope, id, { deleteAfter }) => replacedGeofence(configuration, scope, id, deleteAfter),
        list: (query) => configuration.geofences(query),
        search: (query) => configuration.searchGeofences(query),
        idOf: geofenceId,
        read: readGeofence,
        complete: (scope, given, current) =>
          resolveGeometry(scope, given, current, configuration, dependencies.geometrySources),
        queues(scope, input, existing) {
          const place = newPlaceOf(input, existing);
          return place === undefined
            ? []
            : [queueOf('place', placeRecordId(scope.project, scope.environment, place.id))];
        },
        confirm(scope, input, existing) {
          const place = newPlaceOf(input, existing);
          const problem = place && placeProblem(scope, place, configuration);
          if (problem !== undefined) throw problem;
        },
        record: geofenceRecord,
        json: (record: GeofenceRecord, nowMs) => geofenceJson(record, nowMs),
      },
      dependencies,
      edit,
    );

    function byPair(request: FastifyRequest, pair: Pair): GeofenceRecord {
      const scope = callerOf(request);
      return found(configuration.geofence(scope, geofenceId(scope, pair)), 'geofence');
    }

    function sendUsersOf(request: FastifyRequest, reply: FastifyReply, geofence: GeofenceRecord) {
      const query = accepted(readUserQuery(request.query as RawFields));
      return sendPage('history', request, reply, (signal) => {
        const reads = { ...dependencies, analytics: boundedReads(dependencies.analytics, { signal }) };
        return listUsersInside(reads, callerOf(request), geofence, query);
      });
    }

    app.get<ById>('/v1/geofences/:id/users', {
      config,
      schema: described({
        operationId: 'listUsersOfGeofence',
        tag,
        summary: 'List the users inside a geofence, last updated first',
        params: idParameter,
        querystring: userParameters,
        answer: usersAnswer,
        failures: [404],
        entityTag: 'answered',
      }),
      handler: async (request, reply) => {
        const { id } = request.params;
        if (isId(id))
          return sendUsersOf(request, reply, found(configuration.geofence(callerOf(request), id), 'geofence'));
        // The path is that of a pair whose externalId is "users".
        const geofence = byPair(request, { tag: id, externalId: 'users' });
        sendRevision(reply, configuration.revisionOf('geofence', geofence._id));
        return { meta: success, geofence: geofenceJson(geofence, clock()) };
      },
    });

    app.get<{ Params: Pair }>('/v1/geofences/:tag/:externalId/users', {
      config,
      schema: described({
        operationId: 'listUsersOfGeofenceOfPair',
        tag,
        summary: 'List the users inside the geofence of a pair, last updated first',
        params: pairParameters,
        querystring: userParameters,
        answer: usersAnswer,
        failures: [404],
      }),
      handler: async (request, reply) => sendUsersOf(request, reply, byPair(request, request.params)),
    });
  };
