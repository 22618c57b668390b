/** The routes of projects and their keys. They require the admin API key. */
import type { FastifyPluginAsync } from 'fastify';
import Type, { type Static } from 'typebox';
import { accepted, FieldReader } from '../../http/fields/reader.js';
import { Environment } from '../../schemas/json/common.js';
import { KeyKind, Project, type ProjectRecord } from '../../schemas/json/project.js';
import { isoTime } from '../../schemas/wire/common.js';
import type { ApiDependencies } from '../dependencies.js';
import { answerOf, bodyFields, described, found, idParameter, success } from '../describe.js';
import { type Edit, sendRevision } from '../edits.js';
import { createProject, environments, type IssuedKey, keyKinds, maxProjectNameLength, withNewKey } from './projects.js';

type ById = { Params: { id: string } };

const tag = 'projects';
const config = { authority: 'admin', limit: 'none' } as const;
const one = answerOf({ project: Project });

/** Returns the project. Only keys that were just issued are in plain text. */
function projectJson(
  { _id, name, createdAt, keys }: ProjectRecord,
  issued: readonly IssuedKey[] = [],
): Static<typeof Project> {
  return {
    _id,
    name,
    createdAt: isoTime(createdAt),
    keys: keys.map(({ environment, kind, hint, createdAt, sha256 }) => {
      const key = issued.find(({ record }) => record.sha256 === sha256)?.key;
      return { environment, kind, hint, createdAt: isoTime(createdAt), ...(key !== undefined && { key }) };
    }),
  };
}

export const projectRoutes =
  ({ configuration, writer }: ApiDependencies, edit: Edit): FastifyPluginAsync =>
  async (app) => {
    app.post('/v1/projects', {
      config,
      schema: described({
        operationId: 'createProject',
        tag,
        summary: 'Create a project',
        description: 'The answer contains the four keys in plain text. They are shown only once.',
        body: Type.Object({ name: Type.String({ minLength: 1, maxLength: maxProjectNameLength }) }),
        answer: one,
        failures: [400],
        entityTag: 'answered',
      }),
      handler: async (request, reply) => {
        const reader = new FieldReader(bodyFields(request.body));
        const name = reader.requiredText('name', maxProjectNameLength);
        const { project, keys } = await createProject(writer, accepted(reader.outcome(() => name)));
        sendRevision(reply, configuration.revisionOf('project', project._id));
        return { meta: success, project: projectJson(project, keys) };
      },
    });

    app.get('/v1/projects', {
      config,
      schema: described({
        operationId: 'listProjects',
        tag,
        summary: 'List all projects',
        answer: answerOf({ projects: Type.Array(Project) }),
      }),
      handler: async () => ({
        meta: success,
        projects: configuration.projects().map((project) => projectJson(project)),
      }),
    });

    app.get<ById>('/v1/projects/:id', {
      config,
      schema: described({
        operationId: 'getProject',
        tag,
        summary: 'Get a project',
        params: idParameter,
        answer: one,
        failures: [404],
        entityTag: 'answered',
      }),
      handler: async (request, reply) => {
        const project = found(configuration.project(request.params.id), 'project');
        sendRevision(reply, configuration.revisionOf('project', project._id));
        return { meta: success, project: projectJson(project) };
      },
    });

    app.post<ById>('/v1/projects/:id/keys/rotate', {
      config,
      schema: described({
        operationId: 'rotateKey',
        tag,
        summary: 'Replace a key',
        description: 'The old key is refused from now on. The new key is shown only once.',
        params: idParameter,
        body: Type.Object({ environment: Environment, kind: KeyKind }),
        answer: answerOf({ key: Type.String({ description: 'The new key' }), project: Project }),
        failures: [400, 404, 409],
        entityTag: 'matched and answered',
      }),
      handler: async (request, reply) => {
        const reader = new FieldReader(bodyFields(request.body));
        const environment = reader.requiredChoice('environment', environments);
        const kind = reader.requiredChoice('kind', keyKinds);
        const { id } = request.params;
        const rotated = await edit({ request, reply }, `project/${id}`, (nowMs) => {
          const project = found(configuration.project(id), 'project');
          const place = accepted(reader.outcome(() => ({ environment: environment!, kind: kind! })));
          const result = withNewKey(project, place.environment, place.kind, nowMs);
          return { kind: 'project', id, record: result.project, isExisting: true, result };
        });
        return { meta: success, key: rotated.issued.key, project: projectJson(rotated.project) };
      },
    });
  };
