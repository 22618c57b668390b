/** Marker images of the key's project and environment, uploaded to be drawn on static maps. */
import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import Type, { type TSchema } from 'typebox';
import { callerOf } from '../../http/authority.js';
import type { Scope } from '../../pipeline/catalog/types.js';
import { ApiError, parameterError } from '../../schemas/errors.js';
import { freshId } from '../../schemas/ids.js';
import { MapMarker, type MapMarkerRecord, type MarkerType, maxMarkerBytes } from '../../schemas/json/map.js';
import { type MapMarkerHead, mapMarkerJson } from '../../schemas/wire/map.js';
import type { ApiDeps } from '../deps.js';
import { accepted, answerOf, described, found, idParameter, listOf, success } from '../describe.js';
import type { RawFields } from '../fields.js';
import { readShortListQuery, shortListPaging, shortListParameters, shortPage } from '../lists.js';
import type { Serialize } from '../serialize.js';
import { readMarker } from './input.js';

type ById = { Params: { id: string } };

const tag = 'maps';
const config = { authority: 'secret', limit: 'management' } as const;
/** In base64, with a name beside it. */
const bodyLimit = 2 * maxMarkerBytes;
const types = { png: 'image/png', svg: 'image/svg+xml' } as const satisfies Record<string, MarkerType>;

/** An SVG may hold scripts: opened as a page, they must not run as ours. */
const contentSecurityPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

const name = Type.Optional(Type.String());
const file = { schema: Type.String({ contentMediaType: 'application/octet-stream' }) };
const images = Object.fromEntries(Object.values(types).map((type) => [type, file]));
const fields = Type.Object({ name, image: Type.String({ contentEncoding: 'base64', description: 'PNG or SVG' }) });
const body = { content: { 'application/json': { schema: fields }, ...images } } as unknown as TSchema;

export const mapMarkerRoutes =
  ({ configuration, writer, maps }: ApiDeps, serializeByProject: Serialize): FastifyPluginAsync =>
  async (app) => {
    const { mapMarkers } = configuration;
    const headOf = (request: FastifyRequest<ById>): MapMarkerHead =>
      found(mapMarkers.find(callerOf(request), request.params.id), 'marker');

    function refuseMore(scope: Scope): void {
      if (mapMarkers.list(scope).length < maps.maxMarkers) return;
      throw new ApiError('conflict', `there are ${maps.maxMarkers} markers, the most that this environment may have`);
    }

    /** What the image is, whatever it is said to be. */
    async function typeOf(project: string, image: Buffer): Promise<MarkerType> {
      const kind = await maps.checkIcon(project, image);
      if (!kind.ok) throw parameterError({ param: 'image', rule: kind.problem.rule });
      return types[kind.value];
    }

    app.addContentTypeParser(Object.values(types), { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes));

    app.post('/v1/map-markers', {
      config,
      bodyLimit,
      schema: described({
        operationId: 'createMapMarker',
        tag,
        summary: 'Upload a marker',
        description: 'The body is the image, PNG or SVG, of at most 262,144 bytes; or JSON that has it in base64.',
        querystring: Type.Object({ name: Type.Optional(Type.String({ description: 'Where the body is the image' })) }),
        body,
        answer: answerOf({ mapMarker: MapMarker }),
        failures: [400, 409, 413, 503],
      }),
      handler: async (request) => {
        const { project, environment } = callerOf(request);
        const { name, image } = accepted(readMarker(request.body, request.query as RawFields));
        refuseMore({ project, environment });
        const type = await typeOf(project, image);
        return serializeByProject(project, async () => {
          refuseMore({ project, environment });
          const createdAt = writer.nextTimestamp();
          const identity = { _id: freshId(createdAt), project, environment, createdAt, updatedAt: createdAt };
          const record: MapMarkerRecord = { ...identity, name, type, image: image.toString('base64') };
          await writer.write([{ kind: 'map-marker', id: record._id, record }]);
          return { meta: success, mapMarker: mapMarkerJson(found(mapMarkers.find(record, record._id), 'marker')) };
        });
      },
    });

    app.get('/v1/map-markers', {
      config,
      schema: described({
        operationId: 'listMapMarkers',
        tag,
        summary: 'List markers, newest first',
        description: shortListPaging,
        querystring: shortListParameters,
        answer: listOf({ mapMarkers: Type.Array(MapMarker) }),
        failures: [400],
      }),
      handler: async (request) => {
        const query = accepted(readShortListQuery(request.query as RawFields));
        const { meta, rows } = shortPage(mapMarkers.list(callerOf(request)), query);
        return { meta, mapMarkers: rows.map(mapMarkerJson) };
      },
    });

    app.get<ById>('/v1/map-markers/:id', {
      config,
      schema: described({
        operationId: 'getMapMarker',
        tag,
        summary: 'Get a marker',
        params: idParameter,
        answer: answerOf({ mapMarker: MapMarker }),
        failures: [404],
      }),
      handler: async (request) => ({ meta: success, mapMarker: mapMarkerJson(headOf(request)) }),
    });

    app.get<ById>('/v1/map-markers/:id/image', {
      config,
      schema: described({
        operationId: 'getMapMarkerImage',
        tag,
        summary: 'Get the image of a marker, as it was uploaded',
        params: idParameter,
        answer: { description: 'The image', content: images } as unknown as TSchema,
        failures: [404],
      }),
      handler: async (request, reply) => {
        const head = headOf(request);
        reply.headers({ 'content-security-policy': contentSecurityPolicy, 'x-content-type-options': 'nosniff' });
        return reply.type(head.type).send(mapMarkers.content(head, head._id));
      },
    });

    app.delete<ById>('/v1/map-markers/:id', {
      config,
      schema: described({
        operationId: 'deleteMapMarker',
        tag,
        summary: 'Delete a marker',
        description: 'Maps that name it are refused from then on.',
        params: idParameter,
        answer: answerOf(),
        failures: [404],
      }),
      handler: async (request) =>
        serializeByProject(callerOf(request).project, async () => {
          const { _id } = headOf(request);
          await writer.write([{ kind: 'map-marker', id: _id, record: null }]);
          return { meta: success };
        }),
    });
  };
