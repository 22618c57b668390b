/** Routes for marker images of the key's project and environment, which static maps can draw. */
import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import {
  answerOf,
  bodyFields,
  contentOf,
  described,
  found,
  idParameter,
  listOf,
  success,
} from '../../http/describe.js';
import { accepted, type RawFields } from '../../http/fields/reader.js';
import { schemaOf } from '../../http/fields/table.js';
import { storedMarker } from '../../pipeline/catalog/store/tables/stored-files.js';
import type { Scope } from '../../pipeline/catalog/types.js';
import { ApiError, parameterError } from '../../schemas/errors.js';
import { freshId } from '../../schemas/ids.js';
import { MapMarker, type MapMarkerRecord, type MarkerType, maxMarkerBytes } from '../../schemas/json/map.js';
import { type MapMarkerHead, mapMarkerJson } from '../../schemas/wire/map.js';
import type { ApiDependencies } from '../dependencies.js';
import { type Edit, sendRevision } from '../edits.js';
import { listPaging, readShortListQuery, shortListParameters, shortPage } from '../lists.js';
import { mapMarkerFields, readChangedMarker, readMarker } from './input.js';

type ById = { Params: { id: string } };

const tag = 'maps';
const config = { authority: 'secret', limit: 'management' } as const;
/** Maximum body: the image in Base64 with a name. */
const bodyLimit = 2 * maxMarkerBytes;
const types = { png: 'image/png', svg: 'image/svg+xml' } as const satisfies Record<string, MarkerType>;

/** An SVG may contain scripts. Opened as a page, they must not run with our origin. */
const contentSecurityPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

const file = Type.String({ contentMediaType: 'application/octet-stream' });
const images = Object.fromEntries(Object.values(types).map((type) => [type, file]));
const body = contentOf({ 'application/json': schemaOf(mapMarkerFields), ...images });

export const mapMarkerRoutes =
  ({ configuration, maps }: ApiDependencies, edit: Edit): FastifyPluginAsync =>
  async (app) => {
    const { mapMarkers } = configuration;
    const headOf = (request: FastifyRequest<ById>): MapMarkerHead =>
      found(mapMarkers.find(callerOf(request), request.params.id), 'marker');

    function refuseMore(scope: Scope): void {
      if (mapMarkers.list(scope).length < maps.maxMarkers) return;
      throw new ApiError('conflict', `there are ${maps.maxMarkers} markers, the most that this environment may have`);
    }

    /** Returns the image's actual type, whatever was declared. */
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
        entityTag: 'matched and answered',
      }),
      handler: async (request, reply) => {
        const { project, environment } = callerOf(request);
        const { name, image } = accepted(readMarker(request.body, request.query as RawFields));
        refuseMore({ project, environment });
        const type = await typeOf(project, image);
        const record = await edit({ request, reply }, `map markers of ${project}`, (nowMs) => {
          refuseMore({ project, environment });
          const identity = { _id: freshId(nowMs), project, environment, createdAt: nowMs, updatedAt: nowMs };
          const result: MapMarkerRecord = { ...identity, name, type, image: image.toString('base64') };
          return { kind: 'map-marker', id: result._id, record: result, isExisting: false, result };
        });
        return { meta: success, mapMarker: mapMarkerJson(storedMarker(record).head) };
      },
    });

    app.get('/v1/map-markers', {
      config,
      schema: described({
        operationId: 'listMapMarkers',
        tag,
        summary: 'List markers, newest first',
        description: listPaging,
        querystring: shortListParameters,
        answer: listOf({ mapMarkers: Type.Array(MapMarker) }, { cursor: true }),
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
        entityTag: 'answered',
      }),
      handler: async (request, reply) => {
        const head = headOf(request);
        sendRevision(reply, configuration.revisionOf('map-marker', head._id));
        return { meta: success, mapMarker: mapMarkerJson(head) };
      },
    });

    app.get<ById>('/v1/map-markers/:id/image', {
      config,
      schema: described({
        operationId: 'getMapMarkerImage',
        tag,
        summary: 'Get the image of a marker, as it was uploaded',
        params: idParameter,
        answer: contentOf(images, 'The image'),
        failures: [404],
      }),
      handler: async (request, reply) => {
        const head = headOf(request);
        reply.headers({ 'content-security-policy': contentSecurityPolicy, 'x-content-type-options': 'nosniff' });
        return reply.type(head.type).send(mapMarkers.content(head, head._id));
      },
    });

    app.patch<ById>('/v1/map-markers/:id', {
      config,
      bodyLimit,
      schema: described({
        operationId: 'patchMapMarker',
        tag,
        summary: 'Change the name of a marker, or its image',
        description: 'Fields that are left out stay. Maps are drawn with the new image at once.',
        params: idParameter,
        body: schemaOf(mapMarkerFields, { allOptional: true }),
        answer: answerOf({ mapMarker: MapMarker }),
        failures: [400, 404, 409, 413, 503],
        entityTag: 'matched and answered',
      }),
      handler: async (request, reply) => {
        const fields = bodyFields(request.body);
        const inputOf = (head: MapMarkerHead) =>
          accepted(
            readChangedMarker({ name: head.name, image: found(mapMarkers.content(head, head._id), 'marker') }, fields),
          );
        // Checked before the edit is queued, because it may wait for a process to start.
        const { image: given } = inputOf(headOf(request));
        const type = Object.hasOwn(fields, 'image') ? await typeOf(callerOf(request).project, given) : undefined;
        const record = await edit({ request, reply }, `map-marker/${request.params.id}`, (nowMs) => {
          const head = headOf(request);
          const { name, image } = inputOf(head);
          const { bytes: _, ...kept } = head;
          const changed = { name, type: type ?? head.type, image: image.toString('base64') };
          const result: MapMarkerRecord = { ...kept, ...changed, updatedAt: nowMs };
          return { kind: 'map-marker', id: result._id, record: result, isExisting: true, result };
        });
        return { meta: success, mapMarker: mapMarkerJson(storedMarker(record).head) };
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
        failures: [404, 409],
        entityTag: 'matched',
      }),
      handler: async (request, reply) => {
        await edit({ request, reply }, `map-marker/${request.params.id}`, () => {
          const { _id } = headOf(request);
          return { kind: 'map-marker', id: _id, record: null, isExisting: true, result: null };
        });
        return { meta: success };
      },
    });
  };
