/** The routes of the places of the key's project and environment. */
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import {
  answerOf,
  type ById,
  bodyFields,
  described,
  describedRecords,
  found,
  listOf,
  success,
} from '../../http/describe.js';
import { accepted, FieldReader, type RawFields } from '../../http/fields/reader.js';
import { schemaOf, unknownField } from '../../http/fields/table.js';
import { ApiError, parameterError } from '../../schemas/errors.js';
import { placeRecordId } from '../../schemas/ids.js';
import { Place, type PlaceRecord } from '../../schemas/json/place.js';
import { placeJson } from '../../schemas/wire/place.js';
import type { ApiDependencies } from '../dependencies.js';
import { type Edit, queueOf, sendRevision } from '../edits.js';
import { maxGeofencesPerPlace } from '../geofences/geometry.js';
import {
  cursorParameter,
  limitParameter,
  listPaging,
  metaOfPage,
  readCursor,
  readLimit,
  readTimeBounds,
  timeParameters,
} from '../lists.js';
import { patchDescription } from '../merge-patch.js';
import { createSerializer, maxUnfinishedBatches } from '../serialize.js';
import { maxPlacesPerRequest, writePlaces } from './catalogue.js';
import { patchPlace, placeFields, placeRecord, readPlace } from './fields.js';

const tag = 'places';
const config = { authority: 'secret', limit: 'management' } as const;
const idParameter = Type.Object({ id: Type.String({ description: '`_id` of the place, percent-encoded' }) });
/** A thousand places with polygons of a hundred coordinates have about 4 MB. */
const batchBodyLimit = 16 * 2 ** 20;

const batchAnswer = answerOf({
  created: Type.Integer(),
  updated: Type.Integer(),
  unchanged: Type.Integer(),
  problems: Type.Array(
    Type.Object({
      index: Type.Integer({ description: 'Number of the place in the request, from 0' }),
      param: Type.Optional(Type.String()),
      message: Type.String(),
    }),
  ),
});

const batchBody = Type.Object({ places: Type.Array(schemaOf(placeFields), { maxItems: maxPlacesPerRequest }) });

type Configuration = ApiDependencies['configuration'];

function recordIdOf(request: FastifyRequest, placeId: string): string {
  const { project, environment } = callerOf(request);
  return placeRecordId(project, environment, placeId);
}

const findPlace = (configuration: Configuration, request: FastifyRequest<ById>): PlaceRecord | undefined =>
  configuration.places.find(callerOf(request), recordIdOf(request, request.params.id));

function knownFields(request: FastifyRequest): RawFields {
  const fields = bodyFields(request.body);
  const problem = unknownField(placeFields, fields, Object.keys(Place.properties));
  if (problem !== undefined) throw parameterError(problem);
  return fields;
}

/** Adds the routes that list and get places. */
function addReadingRoutes(app: FastifyInstance, configuration: Configuration): void {
  app.get('/v1/places', {
    config,
    schema: described({
      operationId: 'listPlaces',
      tag,
      summary: 'List places, last updated first',
      description: listPaging,
      querystring: Type.Object({
        ...limitParameter,
        ...cursorParameter,
        ...timeParameters('updatedBefore', 'updatedAfter'),
      }),
      answer: listOf({ places: Type.Array(Place) }, { cursor: true }),
    }),
    handler: async (request) => {
      const reader = new FieldReader(request.query as RawFields);
      const limit = readLimit(reader);
      const cursor = readCursor(reader);
      const bounds = readTimeBounds(reader, ['updatedBefore', 'updatedAfter']);
      const { project, environment } = callerOf(request);
      const query = accepted(reader.outcome(() => ({ project, environment, limit, cursor, ...bounds })));
      const { items, hasMore } = configuration.places.list(query);
      return { meta: metaOfPage(items, hasMore, ({ updatedAt }) => updatedAt), places: items.map(placeJson) };
    },
  });

  app.get<ById>('/v1/places/:id', {
    config,
    schema: described({
      operationId: 'getPlace',
      tag,
      summary: 'Get a place',
      params: idParameter,
      answer: answerOf({ place: Place }),
      failures: [404],
      entityTag: 'answered',
    }),
    handler: async (request, reply) => {
      const record = found(findPlace(configuration, request), 'place');
      sendRevision(reply, configuration.revisionOf('place', record._id));
      return { meta: success, place: placeJson(record) };
    },
  });
}

/** Adds the routes that write and delete one place. */
function addEditingRoutes(app: FastifyInstance, configuration: Configuration, edit: Edit): void {
  app.put<ById>('/v1/places/:id', {
    config,
    schema: described({
      operationId: 'upsertPlace',
      tag,
      summary: 'Create or update a place',
      description: 'Fields that are left out are cleared. Geofences of the place take its new geometry within seconds.',
      params: idParameter,
      body: schemaOf(placeFields, { without: ['_id'] }),
      answer: answerOf({ place: Place }),
      failures: [409],
      entityTag: 'matched and answered',
    }),
    handler: async (request, reply) => {
      const fields = knownFields(request);
      const input = accepted(readPlace(fields, request.params.id));
      const id = recordIdOf(request, input.placeId);
      const scope = callerOf(request);
      const saved = await edit({ request, reply }, queueOf('place', id), (nowMs) => {
        const existing = configuration.places.find(scope, id);
        const record = placeRecord(scope, input, existing, nowMs);
        return { kind: 'place', id, record, isExisting: existing !== undefined, result: record };
      });
      return { meta: success, place: placeJson(saved) };
    },
  });

  app.patch<ById>('/v1/places/:id', {
    config,
    schema: described({
      operationId: 'patchPlace',
      tag,
      summary: 'Change some fields of a place',
      description: `${patchDescription} Geofences of the place take its new geometry within seconds.`,
      params: idParameter,
      body: schemaOf(placeFields, { without: ['_id'], allOptional: true }),
      answer: answerOf({ place: Place }),
      failures: [404, 409],
      entityTag: 'matched and answered',
    }),
    handler: async (request, reply) => {
      const fields = knownFields(request);
      const id = recordIdOf(request, request.params.id);
      const scope = callerOf(request);
      const saved = await edit({ request, reply }, queueOf('place', id), (nowMs) => {
        const existing = found(findPlace(configuration, request), 'place');
        const record = placeRecord(scope, accepted(patchPlace(existing, fields)), existing, nowMs);
        return { kind: 'place', id, record, isExisting: true, result: record };
      });
      return { meta: success, place: placeJson(saved) };
    },
  });

  app.delete<ById>('/v1/places/:id', {
    config,
    schema: described({
      operationId: 'deletePlace',
      tag,
      summary: 'Delete a place',
      description: 'Refused while a geofence has its geometry.',
      params: idParameter,
      answer: answerOf(),
      failures: [404, 409],
      entityTag: 'matched',
    }),
    handler: async (request, reply) => {
      const { project, environment } = callerOf(request);
      await edit({ request, reply }, queueOf('place', recordIdOf(request, request.params.id)), () => {
        const { _id, placeId } = found(findPlace(configuration, request), 'place');
        const used = configuration.geofencesOfPlace({ project, environment }, placeId, maxGeofencesPerPlace).length;
        if (used > 0) throw new ApiError('conflict', inUse(used));
        return { kind: 'place', id: _id, record: null, isExisting: true, result: null };
      });
      return { meta: success };
    },
  });
}

function addBatchRoute(app: FastifyInstance, dependencies: ApiDependencies): void {
  const serialize = createSerializer(maxUnfinishedBatches);

  app.post('/v1/places/batch', {
    config,
    bodyLimit: batchBodyLimit,
    schema: described({
      operationId: 'upsertPlaces',
      tag,
      summary: 'Create or update many places',
      description:
        `At most ${maxPlacesPerRequest} places with their \`_id\`, as objects of fields or as GeoJSON features. ` +
        'Places that break a rule are listed under `problems`; the others are stored. Repeating it changes nothing.',
      body: batchBody,
      answer: batchAnswer,
      failures: [409],
    }),
    handler: async (request) => {
      const places = describedRecords(request.body, batchBody, 'places');
      if (places.length > maxPlacesPerRequest)
        throw parameterError({ param: 'places', rule: `must have at most ${maxPlacesPerRequest} places` });
      const { project, environment } = callerOf(request);
      const { confirmAuthority } = request;
      // Batches of the same places that run at once refuse each other's writes.
      const written = await serialize(project, () =>
        writePlaces({ ...dependencies, confirmAuthority }, { project, environment }, places),
      );
      return { meta: success, ...written };
    },
  });
}

/** Serves /v1/places: the list, one place, and batches. Geofences follow a changed place in the background. */
export const placeRoutes =
  (dependencies: ApiDependencies, edit: Edit): FastifyPluginAsync =>
  async (app) => {
    addReadingRoutes(app, dependencies.configuration);
    addEditingRoutes(app, dependencies.configuration, edit);
    addBatchRoute(app, dependencies);
  };

const inUse = (count: number): string =>
  `${count === 1 ? 'a geofence has' : `${count} geofences have`} the geometry of this place; change or delete it first`;
