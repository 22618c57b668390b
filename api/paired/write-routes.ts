/** The routes that write a geofence or a beacon: create, replace, change and delete. */
import type { FastifyInstance } from 'fastify';
import { callerOf } from '../../http/access/authority.js';
import { answerOf, type ById, described, idParameter, pairParameters, success } from '../../http/describe.js';
import { accepted } from '../../http/fields/reader.js';
import { schemaOf } from '../../http/fields/table.js';
import type { BeaconRecord } from '../../schemas/json/beacon.js';
import type { GeofenceRecord } from '../../schemas/json/geofence.js';
import { patchDescription } from '../merge-patch.js';
import { requirePair } from './fields.js';
import { type ByPair, config, type PairedParts } from './parts.js';

const replaces = 'Fields that are left out are cleared.';

/** Adds the routes that create a record or replace the one of its pair. */
export function addUpsertRoutes<Given, Input, Stored extends GeofenceRecord | BeaconRecord>(
  app: FastifyInstance,
  { resource, edits, name, tag, path, one, update, operation, answer, knownFields }: PairedParts<Given, Input, Stored>,
): void {
  app.post(path, {
    config,
    schema: described({
      operationId: operation('create'),
      tag,
      summary: `Create a ${name}`,
      description: `If the pair of tag and externalId exists, that ${name} is updated. ${replaces}`,
      body: schemaOf(resource.fields),
      answer: one,
      failures: [409],
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
      failures: [409],
      entityTag: 'matched and answered',
    }),
    handler: async (request, reply) => {
      requirePair(request.params);
      const given = accepted(resource.read(knownFields(request), request.params));
      return answer(await edits.upsert({ request, reply }, given));
    },
  });
}

/** Adds the routes that replace a record by its id, or change some of its fields. */
export function addChangeRoutes<Given, Input, Stored extends GeofenceRecord | BeaconRecord>(
  app: FastifyInstance,
  {
    resource,
    edits,
    name,
    tag,
    path,
    one,
    update,
    operation,
    answer,
    byId,
    byPair,
    knownFields,
  }: PairedParts<Given, Input, Stored>,
): void {
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
      failures: [404, 409],
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
      body: schemaOf(resource.fields, { without: ['tag', 'externalId'], allOptional: true }),
      answer: one,
      failures: [404, 409],
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
      body: schemaOf(resource.fields, { without: ['tag', 'externalId'], allOptional: true }),
      answer: one,
      failures: [404, 409],
      entityTag: 'matched and answered',
    }),
    handler: async (request, reply) =>
      answer(await edits.patch({ request, reply }, knownFields(request), () => byPair(request))),
  });
}

/** Adds the routes that delete a record. */
export function addDeletionRoutes<Given, Input, Stored extends GeofenceRecord | BeaconRecord>(
  app: FastifyInstance,
  { resource, edits, name, tag, path, operation, byId, byPair }: PairedParts<Given, Input, Stored>,
): void {
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
