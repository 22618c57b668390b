/** Routes for uploaded styles of the key's project and environment, which static maps can use. */
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import { answerOf, type ById, bodyFields, described, idParameter, success } from '../../http/describe.js';
import { accepted } from '../../http/fields/reader.js';
import { schemaOf } from '../../http/fields/table.js';
import { storedStyle } from '../../pipeline/catalog/store/tables/stored-files.js';
import type { Unsupported } from '../../renderer/style/unsupported.js';
import { parameterError } from '../../schemas/errors.js';
import { MapStyle, type MapStyleRecord, Unsupported as UnsupportedSchema } from '../../schemas/json/map.js';
import { type MapStyleHead, mapStyleJson } from '../../schemas/wire/map.js';
import type { ApiDependencies } from '../dependencies.js';
import type { Edit } from '../edits.js';
import { addFileRoutes, createFileEditor, type FileEditor, fileConfig, filesTag } from '../uploaded-files.js';
import { mapStyleFields, readStyle, type Style, type StyleInput } from './input.js';

/** Maximum body. A formatted style with a name may be longer than the stored one. */
const bodyLimit = 1_048_576;

const uploaded = answerOf({
  mapStyle: MapStyle,
  unsupported: Type.Array(UnsupportedSchema, { description: 'Parts of the style that are not drawn' }),
});

type Editor = FileEditor<MapStyleHead, MapStyleRecord>;

/** Creates the steps that uploads and changes have. */
function createSteps({ configuration: { mapStyles }, maps }: ApiDependencies) {
  const styleOf = (head: MapStyleHead): Style => JSON.parse(`${mapStyles.content(head, head._id)}`);

  /** Returns the parts of the style that are not drawn. Throws its first error, with the position in the body. */
  async function checked(project: string, { style, path }: StyleInput): Promise<Unsupported[]> {
    const check = await maps.checkStyle(project, Buffer.from(JSON.stringify(style)));
    if (check.ok) return check.value;
    const { param, rule } = check.problem;
    throw parameterError({ param: param === '' ? 'style' : `${path}${param}`, rule });
  }

  const answer = (record: MapStyleRecord, unsupported: Unsupported[]) => ({
    meta: success,
    mapStyle: mapStyleJson(storedStyle(record).head),
    unsupported,
  });

  return { styleOf, checked, answer };
}

type Steps = ReturnType<typeof createSteps>;

function addUploadRoute(app: FastifyInstance, editor: Editor, { checked, answer }: Steps): void {
  app.post('/v1/map-styles', {
    config: fileConfig,
    bodyLimit,
    schema: described({
      operationId: 'createMapStyle',
      tag: filesTag,
      summary: 'Upload a style',
      description: 'Only its sprites are fetched. The archive of this installation replaces its source of tiles.',
      body: schemaOf(mapStyleFields),
      answer: uploaded,
      failures: [409],
      entityTag: 'matched and answered',
    }),
    handler: async (request, reply) => {
      const caller = callerOf(request);
      const input = accepted(readStyle(undefined, bodyFields(request.body)));
      editor.refuseMore(caller);
      const unsupported = await checked(caller.project, input);
      const { name, style } = input;
      const record = await editor.create({ request, reply }, (identity) => ({ ...identity, name, style }));
      return answer(record, unsupported);
    },
  });
}

function addChangeRoutes(app: FastifyInstance, editor: Editor, { styleOf, checked, answer }: Steps): void {
  /** PUT and PATCH are one operation under two names. */
  const changing = {
    tag: filesTag,
    description:
      "Fields that are left out stay; null resets the name to the style's own. Maps use the new style at once.",
    params: idParameter,
    body: schemaOf(mapStyleFields, { allOptional: true }),
    answer: uploaded,
    failures: [404, 409],
    entityTag: 'matched and answered',
  } as const;

  const change = async (request: FastifyRequest<ById>, reply: FastifyReply) => {
    const fields = bodyFields(request.body);
    const inputOf = (head: MapStyleHead) => accepted(readStyle({ name: head.name, style: styleOf(head) }, fields));
    // Checked before the edit is queued, because it may wait for a process to start.
    const unsupported = await checked(callerOf(request).project, inputOf(editor.headOf(request)));
    const record = await editor.change({ request, reply }, (identity, head) => {
      const { name, style } = inputOf(head);
      return { ...identity, name, style };
    });
    return answer(record, unsupported);
  };

  app.put<ById>('/v1/map-styles/:id', {
    config: fileConfig,
    bodyLimit,
    schema: described({ operationId: 'changeMapStyle', summary: 'Change a style', ...changing }),
    handler: change,
  });

  app.patch<ById>('/v1/map-styles/:id', {
    config: fileConfig,
    bodyLimit,
    schema: described({
      operationId: 'patchMapStyle',
      summary: 'Change the name of a style, or the style',
      ...changing,
    }),
    handler: change,
  });
}

/** Serves /v1/map-styles. Answers list the parts of a style that are not drawn. */
export const mapStyleRoutes =
  (dependencies: ApiDependencies, edit: Edit): FastifyPluginAsync =>
  async (app) => {
    const { configuration, maps } = dependencies;
    const kind = { kind: 'map-style', noun: 'style', files: configuration.mapStyles, max: maps.maxStyles } as const;
    const editor = createFileEditor<MapStyleHead, MapStyleRecord>(edit, kind);
    const steps = createSteps(dependencies);
    addUploadRoute(app, editor, steps);
    addChangeRoutes(app, editor, steps);
    addFileRoutes(app, dependencies, editor, {
      ...kind,
      path: '/v1/map-styles',
      operationIds: { list: 'listMapStyles', get: 'getMapStyle', delete: 'deleteMapStyle' },
      one: 'mapStyle',
      many: 'mapStyles',
      schema: MapStyle,
      json: mapStyleJson,
      whole: {
        summary: 'Get a style, with the style itself',
        schema: Type.Object({ ...MapStyle.properties, style: mapStyleFields.style.schema }),
        json: (head) => ({ ...mapStyleJson(head), style: steps.styleOf(head) }),
      },
    });
  };
