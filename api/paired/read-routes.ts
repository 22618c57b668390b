/** The routes that read geofences or beacons: the list, and one by its id or its pair. */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import { type ById, capitalized, described, idParameter, listOf, pairParameters } from '../../http/describe.js';
import { accepted, type RawFields } from '../../http/fields/reader.js';
import type { Scope } from '../../pipeline/catalog/types.js';
import type { BeaconRecord } from '../../schemas/json/beacon.js';
import type { GeofenceRecord } from '../../schemas/json/geofence.js';
import { listPaging, readListQuery, readPageOfTimes } from '../lists.js';
import { sendPage } from '../page.js';
import { type ByPair, config, type PairedParts } from './parts.js';
import { listPage, searchListParameters, searchPage } from './search.js';

/** Adds the list, which is a search with the parameters of one. */
export function addListRoute<Given, Input, Stored extends GeofenceRecord | BeaconRecord>(
  app: FastifyInstance,
  { resource, clock, tag, path }: PairedParts<Given, Input, Stored>,
): void {
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
    }),
    handler: async (request, reply) => {
      const scope = callerOf(request);
      const nowMs = clock();
      const text = (record: Stored): string => JSON.stringify(resource.json(record, nowMs));
      return sendPage('configuration', request, reply, async (leaving) => {
        const page = await readPage(scope, request.query as RawFields, leaving);
        return { ...page, name: tag, text };
      });
    },
  });

  async function readPage(scope: Scope, given: RawFields, leaving: AbortSignal) {
    const found = await searchPage(resource, scope, given, leaving);
    if (found) return found;
    const query = accepted(readListQuery(scope, given, resource.orderBy));
    const { meta, rows } = await readPageOfTimes(query, async ({ limit, cursor }) => {
      const { items } = await listPage(resource, { ...query, cursor, limit: limit + 1 }, leaving);
      return items.map((record) => ({ timeMs: record[resource.orderBy], id: record._id, record }));
    });
    return { items: rows.map(({ record }) => record), meta };
  }
}

/** Adds the routes that answer one record. */
export function addRecordRoutes<Given, Input, Stored extends GeofenceRecord | BeaconRecord>(
  app: FastifyInstance,
  { name, tag, path, one, operation, show, byId, byPair }: PairedParts<Given, Input, Stored>,
): void {
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
}
