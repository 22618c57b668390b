/** Routes for marker images of the key's project and environment, which static maps can draw. */
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import {
  answerOf,
  type ById,
  bodyFields,
  contentOf,
  described,
  found,
  idParameter,
  success,
} from '../../http/describe.js';
import { accepted, type RawFields } from '../../http/fields/reader.js';
import { schemaOf } from '../../http/fields/table.js';
import { storedMarker } from '../../pipeline/catalog/store/tables/stored-files.js';
import { parameterError } from '../../schemas/errors.js';
import { MapMarker, type MapMarkerRecord, type MarkerType, maxMarkerBytes } from '../../schemas/json/map.js';
import { type MapMarkerHead, mapMarkerJson } from '../../schemas/wire/map.js';
import type { ApiDependencies } from '../dependencies.js';
import type { Edit } from '../edits.js';
import { addFileRoutes, createFileEditor, type FileEditor, fileConfig, filesTag } from '../uploaded-files.js';
import { mapMarkerFields, readChangedMarker, readMarker } from './input.js';

/** Maximum body: the image in Base64 with a name. */
const bodyLimit = 2 * maxMarkerBytes;
const types = { png: 'image/png', svg: 'image/svg+xml' } as const satisfies Record<string, MarkerType>;

/** An SVG may contain scripts. Opened as a page, they must not run with our origin. */
const contentSecurityPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

const file = Type.String({ contentMediaType: 'application/octet-stream' });
const images = Object.fromEntries(Object.values(types).map((type) => [type, file]));
const body = contentOf({ 'application/json': schemaOf(mapMarkerFields), ...images });

type Editor = FileEditor<MapMarkerHead, MapMarkerRecord>;

/** Returns the image's actual type, whatever was declared. */
async function typeOf(maps: ApiDependencies['maps'], project: string, image: Buffer): Promise<MarkerType> {
  const icon = await maps.checkIcon(project, image);
  if (!icon.ok) throw parameterError({ param: 'image', rule: icon.problem.rule });
  return types[icon.value];
}

const answer = (record: MapMarkerRecord) => ({
  meta: success,
  mapMarker: mapMarkerJson(storedMarker(record).head),
});

function addUploadRoute(app: FastifyInstance, { maps }: ApiDependencies, editor: Editor): void {
  app.addContentTypeParser(Object.values(types), { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes));

  app.post('/v1/map-markers', {
    config: fileConfig,
    bodyLimit,
    schema: described({
      operationId: 'createMapMarker',
      tag: filesTag,
      summary: 'Upload a marker',
      description: 'The body is the image, PNG or SVG, of at most 256 KiB; or JSON that has it in base64.',
      querystring: Type.Object({ name: Type.Optional(Type.String({ description: 'Where the body is the image' })) }),
      body,
      answer: answerOf({ mapMarker: MapMarker }),
      failures: [409],
      entityTag: 'matched and answered',
    }),
    handler: async (request, reply) => {
      const caller = callerOf(request);
      const { name, image } = accepted(readMarker(request.body, request.query as RawFields));
      editor.refuseMore(caller);
      const type = await typeOf(maps, caller.project, image);
      const content = { name, type, image: image.toString('base64') };
      return answer(await editor.create({ request, reply }, (identity) => ({ ...identity, ...content })));
    },
  });
}

function addImageRoute(app: FastifyInstance, { configuration }: ApiDependencies, editor: Editor): void {
  app.get<ById>('/v1/map-markers/:id/image', {
    config: fileConfig,
    schema: described({
      operationId: 'getMapMarkerImage',
      tag: filesTag,
      summary: 'Get the image of a marker, as it was uploaded',
      params: idParameter,
      answer: contentOf(images, 'The image'),
      failures: [404],
    }),
    handler: async (request, reply) => {
      const head = editor.headOf(request);
      reply.headers({ 'content-security-policy': contentSecurityPolicy, 'x-content-type-options': 'nosniff' });
      return reply.type(head.type).send(configuration.mapMarkers.content(head, head._id));
    },
  });
}

function addChangeRoute(app: FastifyInstance, { configuration, maps }: ApiDependencies, editor: Editor): void {
  app.patch<ById>('/v1/map-markers/:id', {
    config: fileConfig,
    bodyLimit,
    schema: described({
      operationId: 'patchMapMarker',
      tag: filesTag,
      summary: 'Change the name of a marker, or its image',
      description: 'Fields that are left out stay. Maps are drawn with the new image at once.',
      params: idParameter,
      body: schemaOf(mapMarkerFields, { allOptional: true }),
      answer: answerOf({ mapMarker: MapMarker }),
      failures: [404, 409],
      entityTag: 'matched and answered',
    }),
    handler: async (request, reply) => {
      const fields = bodyFields(request.body);
      const inputOf = (head: MapMarkerHead) =>
        accepted(
          readChangedMarker(
            { name: head.name, image: found(configuration.mapMarkers.content(head, head._id), 'marker') },
            fields,
          ),
        );
      // Checked before the edit is queued, because it may wait for a process to start.
      const { image: given } = inputOf(editor.headOf(request));
      const type = Object.hasOwn(fields, 'image') ? await typeOf(maps, callerOf(request).project, given) : undefined;
      const record = await editor.change({ request, reply }, (identity, head) => {
        const { name, image } = inputOf(head);
        return { ...identity, name, type: type ?? head.type, image: image.toString('base64') };
      });
      return answer(record);
    },
  });
}

/**
 * Serves /v1/map-markers. An image that the renderer cannot draw is refused with 400, and one more than the limit with
 * 409.
 */
export const mapMarkerRoutes =
  (dependencies: ApiDependencies, edit: Edit): FastifyPluginAsync =>
  async (app) => {
    const { configuration, maps } = dependencies;
    const kind = { kind: 'map-marker', noun: 'marker', files: configuration.mapMarkers, max: maps.maxMarkers } as const;
    const editor = createFileEditor<MapMarkerHead, MapMarkerRecord>(edit, kind);
    addUploadRoute(app, dependencies, editor);
    addImageRoute(app, dependencies, editor);
    addChangeRoute(app, dependencies, editor);
    addFileRoutes(app, dependencies, editor, {
      ...kind,
      path: '/v1/map-markers',
      operationIds: { list: 'listMapMarkers', get: 'getMapMarker', delete: 'deleteMapMarker' },
      one: 'mapMarker',
      many: 'mapMarkers',
      schema: MapMarker,
      json: mapMarkerJson,
      whole: { summary: 'Get a marker', schema: MapMarker, json: mapMarkerJson },
    });
  };
