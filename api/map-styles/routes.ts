/** Routes for uploaded styles of the key's project and environment, which static maps can use. */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import { answerOf, bodyFields, described, found, idParameter, listOf, success } from '../../http/describe.js';
import { accepted, type RawFields } from '../../http/fields/reader.js';
import { schemaOf } from '../../http/fields/table.js';
import { storedStyle } from '../../pipeline/catalog/store/tables/stored-files.js';
import type { Scope } from '../../pipeline/catalog/types.js';
import type { Unsupported } from '../../renderer/style/unsupported.js';
import { ApiError, parameterError } from '../../schemas/errors.js';
import { freshId } from '../../schemas/ids.js';
import { MapStyle, type MapStyleRecord, Unsupported as UnsupportedSchema } from '../../schemas/json/map.js';
import { type MapStyleHead, mapStyleJson } from '../../schemas/wire/map.js';
import type { ApiDependencies } from '../dependencies.js';
import { type Edit, sendRevision } from '../edits.js';
import { listPaging, readShortListQuery, shortListParameters, shortPage } from '../lists.js';
import { mapStyleFields, readStyle, type Style, type StyleInput } from './input.js';

type ById = { Params: { id: string } };

const tag = 'maps';
const config = { authority: 'secret', limit: 'management' } as const;
/** Maximum body. A formatted style with a name may be longer than the stored one. */
const bodyLimit = 1_048_576;

const uploaded = answerOf({
  mapStyle: MapStyle,
  unsupported: Type.Array(UnsupportedSchema, { description: 'Parts of the style that are not drawn' }),
});

export const mapStyleRoutes =
  ({ configuration, maps }: ApiDependencies, edit: Edit): FastifyPluginAsync =>
  async (app) => {
    const { mapStyles } = configuration;
    const headOf = (request: FastifyRequest<ById>): MapStyleHead =>
      found(mapStyles.find(callerOf(request), request.params.id), 'style');
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

    function refuseMore(scope: Scope): void {
      if (mapStyles.list(scope).length < maps.maxStyles) return;
      throw new ApiError('conflict', `there are ${maps.maxStyles} styles, the most that this environment may have`);
    }

    app.post('/v1/map-styles', {
      config,
      bodyLimit,
      schema: described({
        operationId: 'createMapStyle',
        tag,
        summary: 'Upload a style',
        description: 'Only its sprites are fetched. The archive of this installation replaces its source of tiles.',
        body: schemaOf(mapStyleFields),
        answer: uploaded,
        failures: [400, 409, 413, 503],
        entityTag: 'matched and answered',
      }),
      handler: async (request, reply) => {
        const { project, environment } = callerOf(request);
        const input = accepted(readStyle(undefined, bodyFields(request.body)));
        refuseMore({ project, environment });
        const unsupported = await checked(project, input);
        const record = await edit({ request, reply }, `map styles of ${project}`, (nowMs) => {
          refuseMore({ project, environment });
          const { name, style } = input;
          const times = { createdAt: nowMs, updatedAt: nowMs };
          const result: MapStyleRecord = { _id: freshId(nowMs), project, environment, ...times, name, style };
          return { kind: 'map-style', id: result._id, record: result, isExisting: false, result };
        });
        return answer(record, unsupported);
      },
    });

    app.get('/v1/map-styles', {
      config,
      schema: described({
        operationId: 'listMapStyles',
        tag,
        summary: 'List styles, newest first',
        description: listPaging,
        querystring: shortListParameters,
        answer: listOf({ mapStyles: Type.Array(MapStyle) }, { cursor: true }),
        failures: [400],
      }),
      handler: async (request) => {
        const query = accepted(readShortListQuery(request.query as RawFields));
        const { meta, rows } = shortPage(mapStyles.list(callerOf(request)), query);
        return { meta, mapStyles: rows.map(mapStyleJson) };
      },
    });

    app.get<ById>('/v1/map-styles/:id', {
      config,
      schema: described({
        operationId: 'getMapStyle',
        tag,
        summary: 'Get a style, with the style itself',
        params: idParameter,
        answer: answerOf({ mapStyle: Type.Object({ ...MapStyle.properties, style: mapStyleFields.style.schema }) }),
        failures: [404],
        entityTag: 'answered',
      }),
      handler: async (request, reply) => {
        const head = headOf(request);
        sendRevision(reply, configuration.revisionOf('map-style', head._id));
        return { meta: success, mapStyle: { ...mapStyleJson(head), style: styleOf(head) } };
      },
    });

    /** PUT and PATCH are one operation under two names. */
    const changing = {
      tag,
      description:
        "Fields that are left out stay; null resets the name to the style's own. Maps use the new style at once.",
      params: idParameter,
      body: schemaOf(mapStyleFields, { allOptional: true }),
      answer: uploaded,
      failures: [400, 404, 409, 413, 503],
      entityTag: 'matched and answered',
    } as const;

    const change = async (request: FastifyRequest<ById>, reply: FastifyReply) => {
      const fields = bodyFields(request.body);
      const inputOf = (head: MapStyleHead) => accepted(readStyle({ name: head.name, style: styleOf(head) }, fields));
      // Checked before the edit is queued, because it may wait for a process to start.
      const unsupported = await checked(callerOf(request).project, inputOf(headOf(request)));
      const http = { request, reply };
      const record = await edit(http, `map-style/${request.params.id}`, (nowMs) => {
        const head = headOf(request);
        const { name, style } = inputOf(head);
        const { bytes: _, ...kept } = head;
        const result: MapStyleRecord = { ...kept, updatedAt: nowMs, name, style };
        return { kind: 'map-style', id: result._id, record: result, isExisting: true, result };
      });
      return answer(record, unsupported);
    };

    app.put<ById>('/v1/map-styles/:id', {
      config,
      bodyLimit,
      schema: described({ operationId: 'changeMapStyle', summary: 'Change a style', ...changing }),
      handler: change,
    });

    app.patch<ById>('/v1/map-styles/:id', {
      config,
      bodyLimit,
      schema: described({
        operationId: 'patchMapStyle',
        summary: 'Change the name of a style, or the style',
        ...changing,
      }),
      handler: change,
    });

    app.delete<ById>('/v1/map-styles/:id', {
      config,
      schema: described({
        operationId: 'deleteMapStyle',
        tag,
        summary: 'Delete a style',
        description: 'Maps that name it are refused from then on.',
        params: idParameter,
        answer: answerOf(),
        failures: [404, 409],
        entityTag: 'matched',
      }),
      handler: async (request, reply) => {
        await edit({ request, reply }, `map-style/${request.params.id}`, () => {
          const { _id } = headOf(request);
          return { kind: 'map-style', id: _id, record: null, isExisting: true, result: null };
        });
        return { meta: success };
      },
    });
  };
