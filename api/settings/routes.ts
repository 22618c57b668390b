/** The routes of the settings of the key's project and environment. */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from '../../http/access/authority.js';
import { answerOf, bodyFields, described, found, success } from '../../http/describe.js';
import { accepted } from '../../http/fields/reader.js';
import { schemaOf } from '../../http/fields/table.js';
import { Settings } from '../../schemas/json/project.js';
import type { ApiDependencies } from '../dependencies.js';
import { type Edit, sendRevision } from '../edits.js';
import { changeSettings, settingsFields } from './fields.js';

const tag = 'settings';
const config = { authority: 'secret', limit: 'management' } as const;
const answer = answerOf({ settings: Settings });

/** Serves GET, PUT and PATCH of /v1/settings, for the key's project and environment. */
export const settingsRoutes =
  ({ configuration }: ApiDependencies, edit: Edit): FastifyPluginAsync =>
  async (app) => {
    app.get('/v1/settings', {
      config,
      schema: described({
        operationId: 'getSettings',
        tag,
        summary: 'Get the settings',
        answer,
        entityTag: 'answered',
      }),
      handler: async (request, reply) => {
        const { project, environment } = callerOf(request);
        sendRevision(reply, configuration.revisionOf('project', project));
        return { meta: success, settings: found(configuration.project(project), 'project').settings[environment] };
      },
    });

    const change = async (request: FastifyRequest, reply: FastifyReply) => {
      const { project: id, environment } = callerOf(request);
      const settings = await edit({ request, reply }, `project/${id}`, (nowMs) => {
        const project = found(configuration.project(id), 'project');
        const changed = accepted(changeSettings(project.settings[environment], bodyFields(request.body)));
        const record = { ...project, updatedAt: nowMs, settings: { ...project.settings, [environment]: changed } };
        return { kind: 'project', id, record, isExisting: true, result: changed };
      });
      return { meta: success, settings };
    };

    /** PUT and PATCH are one operation under two names. */
    const changing = {
      tag,
      description:
        'Settings that are left out stay; null puts a setting back to its default. The ETag is that of ' +
        'the project, which includes its keys.',
      body: schemaOf(settingsFields, { allOptional: true }),
      answer,
      failures: [409],
      entityTag: 'matched and answered',
    } as const;

    app.put('/v1/settings', {
      config,
      schema: described({
        operationId: 'changeSettings',
        summary: 'Change settings',
        ...changing,
      }),
      handler: change,
    });

    app.patch('/v1/settings', {
      config,
      schema: described({
        operationId: 'patchSettings',
        summary: 'Change some settings',
        ...changing,
      }),
      handler: change,
    });
  };
