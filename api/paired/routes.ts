/**
 * The routes that geofences and beacons share: create, replace, read, list and delete, by id and by the pair (tag,
 * externalId).
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import { leavingOf } from '../../http/access/revocation.js';
import {
  answerOf,
  bodyFields,
  capitalized,
  described,
  found,
  idParameter,
  listOf,
  pairParameters,
  success,
} from '../../http/describe.js';
import { accepted, type RawFields } from '../../http/fields/reader.js';
import { schemaOf, unknownField } from '../../http/fields/table.js';
import { parameterError } from '../../schemas/errors.js';
import type { BeaconRecord } from '../../schemas/json/beacon.js';
import type { GeofenceRecord } from '../../schemas/json/geofence.js';
import type { ApiDependencies } from '../dependencies.js';
import { type Edit, sendRevision } from '../edits.js';
import { listPaging, metaOfPage, readListQuery } from '../lists.js';
import { patchDescription } from '../merge-patch.js';
import { addBulkRoute } from './bulk.js';
import { createPairedEdits } from './edits.js';
import { type Pair, requirePair } from './fields.js';
import { addOutlineRoute } from './outlines.js';
import type { PairedResource } from './resource.js';
import { addCountRoute, listPage, searchListParameters, searchPage } from './search.js';

type ById = { Params: { id: string } };
type ByPair = { Params: Pair };

const config = { authority: 'secret', limit: 'management' } as const;
const replaces = 'Fields that are left out are cleared.';

/** Adds the routes under `/v1/{name}s`. */
export function addPairedRoutes<Given, Input, Stored extends GeofenceRecord | BeaconRecord>(
  app: FastifyInstance,
  resource: PairedResource<Given, Input, Stored>,
  { configuration, writer, clock }: Pick<ApiDependencies, 'configuration' | 'writer' | 'clock'>,
  edit: Edit,
): void {
  const { name, fields: table } = resource;
  const tag = `${name}s`;
  const path = `/v1/${tag}`;
  const operation = (verb: string, rest = '') => `${verb}${capitalized(name)}${rest}`;
  const one = answerOf({ [name]: resource.answer });
  const creation = schemaOf(table);
  const update = schemaOf(table, { without: ['tag', 'externalId'] });
  const answered = Object.keys(resource.answer.properties);

  const edits = createPairedEdits(resource, writer, edit);

  function knownFields(request: FastifyRequest): RawFields {
    const fields = bodyFields(request.body);
    const problem = unknownField(table, fields, answered);
    if (problem !== undefined) throw parameterError(problem);
    return fields;
  }

  const answer = (record: Stored) => ({ meta: success, [name]: resource.json(record, clock()) });
  const byId = (request: FastifyRequest<ById>): Stored =>
    found(resource.find(callerOf(request), request.params.id), name);
  function byPair(request: FastifyRequest<ByPair>): Stored {
    const id = resource.idOf(callerOf(request), request.params);
    return found(id === undefined ? undefined : resource.find(callerOf(request), id), name);
  }

  function show(record: Stored, reply: FastifyReply) {
    sendRevision(reply, configuration.revisionOf(name, record._id));
    return answer(record);
  }

  app.post(path, {
    config,
    schema: described({
      operationId: operation('create'),
      tag,
      summary: `Create a ${name}`,
      description: `If the pair of tag and externalId exists, that ${name} is updated. ${replaces}`,
      body: creation,
      answer: one,
      failures: [400, 409, 413, 503],
      entityTag: 'matched and answered',
    }),
    handler: async (request, reply) => {
      const given = accepted(resource.read(knownFields(request)));
      return answer(await edits.upsert({ request, reply }, given));
    },
  });

  app.put<ByPair>(`${path}/:tag/:externalId`, {
    config,
    schema: described({
      operationId: operation('upsert'),
      tag,
      summary: `Create or update the ${name} of a pair`,
      description: replaces,
      params: pairParameters,
      body: update,
      answer: one,
      failures: [400, 409, 413, 503],
      entityTag: 'matched and answered',
    }),
    handler: async (request, reply) => {
      requirePair(request.params);
      const given = accepted(resource.read(knownFields(request), request.params));
      return answer(await edits.upsert({ request, reply }, given));
    },
  });

  app.put<ById>(`${path}/:id`, {
    config,
    schema: described({
      operationId: operation('update'),
      tag,
      summary: `Update a ${name} by id`,
      description: `${replaces} Tag and externalId stay.`,
      params: idParameter,
      body: update,
      answer: one,
      failures: [400, 404, 409, 413, 503],
      entityTag: 'matched and answered',
    }),
    handler: async (request, reply) => {
      const fields = knownFields(request);
      return answer(await edits.replace({ request, reply }, request.params.id, fields, () => byId(request)));
    },
  });

  app.patch<ById>(`${path}/:id`, {
    config,
    schema: described({
      operationId: operation('patch'),
      tag,
      summary: `Change fields of a ${name} by id`,
      description: patchDescription,
      params: idParameter,
      body: schemaOf(table, { without: ['tag', 'externalId'], allOptional: true }),
      answer: one,
      failures: [400, 404, 409, 413],
      entityTag: 'matched and answered',
    }),
    handler: async (request, reply) =>
      answer(await edits.patch({ request, reply }, knownFields(request), () => byId(request))),
  });

  app.patch<ByPair>(`${path}/:tag/:externalId`, {
    config,
    schema: described({
      operationId: operation('patch', 'OfPair'),
      tag,
      summary: `Change fields of the ${name} of a pair`,
      description: patchDescription,
      params: pairParameters,
      body: schemaOf(table, { without: ['tag', 'externalId'], allOptional: true }),
      answer: one,
      failures: [400, 404, 409, 413],
      entityTag: 'matched and answered',
    }),
    handler: async (request, reply) =>
      answer(await edits.patch({ request, reply }, knownFields(request), () => byPair(request))),
  });

  app.get(path, {
    config,
    schema: described({
      operationId: `list${capitalized(tag)}`,
      tag,
      summary: `List ${tag}, ${resource.orderBy === 'updatedAt' ? 'last updated' : 'newest'} first`,
      description:
        `${listPaging} Or pass \`${resource.orderBy}\` of the last item ` +
        `as \`${resource.orderBy.replace('At', 'Before')}\`.`,
      querystring: searchListParameters,
      answer: listOf({ [tag]: Type.Array(resource.answer) }, { cursor: true }),
      failures: [400],
    }),
    handler: async (request, reply) => {
      const given = request.query as RawFields;
      const nowMs = clock();
      const leaving = leavingOf(reply);
      const found = await searchPage(resource, callerOf(request), given, leaving);
      if (found) return { meta: found.meta, [tag]: found.items.map((record) => resource.json(record, nowMs)) };
      const query = accepted(readListQuery(callerOf(request), given, resource.orderBy));
      const { items, hasMore } = await listPage(resource, query, leaving);
      const meta = metaOfPage(items, hasMore, (record) => record[resource.orderBy]);
      return { meta, [tag]: items.map((record) => resource.json(record, nowMs)) };
    },
  });

  addCountRoute(app, resource, configuration);
  addBulkRoute(app, resource, { configuration, writer, clock });
  addOutlineRoute(app, resource, clock);

  app.get<ById>(`${path}/:id`, {
    config,
    schema: described({
      operationId: operation('get'),
      tag,
      summary: `Get a ${name} by id`,
      params: idParameter,
      answer: one,
      failures: [404],
      entityTag: 'answered',
    }),
    handler: async (request, reply) => show(byId(request), reply),
  });

  app.get<ByPair>(`${path}/:tag/:externalId`, {
    config,
    schema: described({
      operationId: operation('get', 'OfPair'),
      tag,
      summary: `Get the ${name} of a pair`,
      params: pairParameters,
      answer: one,
      failures: [404],
      entityTag: 'answered',
    }),
    handler: async (request, reply) => show(byPair(request), reply),
  });

  app.delete<ById>(`${path}/:id`, {
    config,
    schema: described({
      operationId: operation('delete'),
      tag,
      summary: `Delete a ${name} by id`,
      params: idParameter,
      answer: answerOf(),
      failures: [404, 409],
      entityTag: 'matched',
    }),
    handler: async (request, reply) => {
      await edits.remove({ request, reply }, request.params.id, () => byId(request));
      return { meta: success };
    },
  });

  app.delete<ByPair>(`${path}/:tag/:externalId`, {
    config,
    schema: described({
      operationId: operation('delete', 'OfPair'),
      tag,
      summary: `Delete the ${name} of a pair`,
      params: pairParameters,
      answer: answerOf(),
      failures: [404, 409],
      entityTag: 'matched',
    }),
    handler: async (request, reply) => {
      const id = resource.idOf(callerOf(request), request.params) ?? '';
      await edits.remove({ request, reply }, id, () => byPair(request));
      return { meta: success };
    },
  });
}
