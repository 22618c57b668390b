/** The settings of the key's project and environment. */
import type { FastifyPluginAsync } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/authority.js';
import { Settings } from '../../schemas/json/project.js';
import type { ApiDeps } from '../deps.js';
import { accepted, answerOf, bodyFields, described, found, success } from '../describe.js';
import type { Serialize } from '../serialize.js';
import { mergeSettings } from './input.js';

const tag = 'settings';
const config = { authority: 'secret', limit: 'management' } as const;
const answer = answerOf({ settings: Settings });

export const settingsRoutes =
  ({ configuration, writer }: ApiDeps, serializeByProject: Serialize): FastifyPluginAsync =>
  async (app) => {
    app.get('/v1/settings', {
      config,
      schema: described({ operationId: 'getSettings', tag, summary: 'Get the settings', answer }),
      handler: async (request) => {
        const { project, environment } = callerOf(request);
        return { meta: success, settings: found(configuration.project(project), 'project').settings[environment] };
      },
    });

    app.put('/v1/settings', {
      config,
      schema: described({
        operationId: 'changeSettings',
        tag,
        summary: 'Change settings',
        description: 'What is left out stays; null puts a setting back to its default.',
        body: Type.Partial(Settings),
        answer,
        failures: [400],
      }),
      handler: async (request) => {
        const { project: id, environment } = callerOf(request);
        return serializeByProject(id, async () => {
          const project = found(configuration.project(id), 'project');
          const settings = accepted(mergeSettings(project.settings[environment], bodyFields(request.body)));
          const record = {
            ...project,
            updatedAt: writer.nextTimestamp(),
            settings: { ...project.settings, [environment]: settings },
          };
          await writer.write([{ kind: 'project', id, record }]);
          return { meta: success, settings };
        });
      },
    });
  };
