/** The routes of projects and their keys. They require the admin API key; an owner may read and re-key the project. */
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import {
  answerOf,
  type ById,
  bodyFields,
  described,
  describedFields,
  found,
  idParameter,
  listOf,
  success,
} from '../../http/describe.js';
import { accepted, FieldReader, type RawFields } from '../../http/fields/reader.js';
import { readTable, required, schemaOf, textField } from '../../http/fields/table.js';
import { projectErasures } from '../../pipeline/records/project-erasures.js';
import { ApiError } from '../../schemas/errors.js';
import { Environment } from '../../schemas/json/common.js';
import { KeyKind, Project, type ProjectRecord } from '../../schemas/json/project.js';
import { isoTime } from '../../schemas/wire/common.js';
import type { ApiDependencies } from '../dependencies.js';
import { type Edit, sendRevision } from '../edits.js';
import { listPaging, readShortListQuery, shortListParameters, shortPage } from '../lists.js';
import { projectFields, readProject } from './fields.js';
import { createProject, environments, type IssuedKey, keyKinds, withNewKey } from './projects.js';

const tag = 'projects';
const config = { authority: 'admin', limit: 'none' } as const;
const forOwners = { authority: 'admin or owner', limit: 'none' } as const;
const one = answerOf({ project: Project });
const keyBody = Type.Object({ environment: Environment, kind: KeyKind });
const planBody = schemaOf({ plan: required(projectFields.plan) });
const deletionFields = { name: required(textField({}, 'The name of the project, as confirmation')) } as const;

/** Throws `forbidden` for a session of another project. The admin API key may name every project. */
function refuseOtherProject({ caller }: FastifyRequest, id: string): void {
  if (caller !== null && caller.project !== id)
    throw new ApiError('forbidden', 'this is not the project that the session has chosen');
}

/** Returns the project. Only keys that were just issued are in plain text. */
export function projectJson(
  { _id, name, createdAt, keys, plan }: ProjectRecord,
  issued: readonly IssuedKey[] = [],
): Static<typeof Project> {
  return {
    _id,
    name,
    createdAt: isoTime(createdAt),
    ...(plan !== undefined && { plan }),
    keys: keys.map(({ environment, kind, hint, createdAt, sha256 }) => {
      const key = issued.find(({ record }) => record.sha256 === sha256)?.key;
      return { environment, kind, hint, createdAt: isoTime(createdAt), ...(key !== undefined && { key }) };
    }),
  };
}

type Dependencies = Pick<ApiDependencies, 'configuration' | 'writer' | 'erasesNothing'>;

/** Adds the routes that create and list projects, for the administrator. */
function addProjectRoutes(app: FastifyInstance, { configuration, writer }: Dependencies): void {
  app.post('/v1/projects', {
    config,
    schema: described({
      operationId: 'createProject',
      tag,
      summary: 'Create a project',
      description: 'The answer contains the four keys in plain text. They are shown only once.',
      body: schemaOf(projectFields),
      answer: one,
      entityTag: 'answered',
    }),
    handler: async (request, reply) => {
      const input = accepted(readProject(undefined, bodyFields(request.body)));
      const { project, keys } = await createProject(writer, input);
      sendRevision(reply, configuration.revisionOf('project', project._id));
      return { meta: success, project: projectJson(project, keys) };
    },
  });

  app.get('/v1/projects', {
    config,
    schema: described({
      operationId: 'listProjects',
      tag,
      summary: 'List projects, newest first',
      description: listPaging,
      querystring: shortListParameters,
      answer: listOf({ projects: Type.Array(Project) }, { cursor: true }),
    }),
    handler: async (request) => {
      const query = accepted(readShortListQuery(request.query as RawFields));
      const { rows, meta } = shortPage(configuration.projects(), query);
      return { meta, projects: rows.map((project) => projectJson(project)) };
    },
  });
}

/** Adds the routes of one project, for its owners and the administrator. */
function addOneProjectRoutes(app: FastifyInstance, { configuration, erasesNothing }: Dependencies, edit: Edit): void {
  app.get<ById>('/v1/projects/:id', {
    config: forOwners,
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
      refuseOtherProject(request, request.params.id);
      const project = found(configuration.project(request.params.id), 'project');
      sendRevision(reply, configuration.revisionOf('project', project._id));
      return { meta: success, project: projectJson(project) };
    },
  });

  app.patch<ById>('/v1/projects/:id', {
    config: forOwners,
    schema: described({
      operationId: 'patchProject',
      tag,
      summary: 'Change some fields of a project',
      description:
        'Fields that are left out stay. An owner may change the name; the plan requires the admin API key. ' +
        'The ETag is also that of the settings and the keys.',
      params: idParameter,
      body: schemaOf(projectFields, { allOptional: true }),
      answer: one,
      failures: [404, 409],
      entityTag: 'matched and answered',
    }),
    handler: async (request, reply) => {
      const { id } = request.params;
      refuseOtherProject(request, id);
      const fields = bodyFields(request.body);
      const patched = await edit({ request, reply }, `project/${id}`, (nowMs) => {
        const current = found(configuration.project(id), 'project');
        const { name, plan } = accepted(readProject(current, fields));
        if (request.caller !== null && plan !== current.plan)
          throw new ApiError('forbidden', 'plan: only the administrator of this installation may change it');
        const { plan: _, ...kept } = current;
        const record = { ...kept, name, ...(plan !== undefined && { plan }), updatedAt: nowMs };
        return { kind: 'project', id, record, isExisting: true, result: record };
      });
      return { meta: success, project: projectJson(patched) };
    },
  });

  app.delete<ById>('/v1/projects/:id', {
    config: forOwners,
    schema: described({
      operationId: 'deleteProject',
      tag,
      summary: 'Delete a project',
      description:
        'Its keys are refused from now on. Imports, syncs, replays and streams end, and waiting deliveries are not ' +
        'sent. Its geofences, users and events are erased in both environments; the answer 202 does not wait for ' +
        'that. Nobody can undo this.',
      params: idParameter,
      querystring: schemaOf(deletionFields),
      status: 202,
      answer: answerOf(),
      failures: [404, 409],
      entityTag: 'matched',
    }),
    handler: async (request, reply) => {
      const { id } = request.params;
      if (erasesNothing !== undefined) throw new ApiError('not_available', erasesNothing);
      refuseOtherProject(request, id);
      const reader = new FieldReader(request.query as RawFields);
      const { name } = readTable(reader, deletionFields);
      await edit({ request, reply }, `project/${id}`, (nowMs) => {
        const project = found(configuration.project(id), 'project');
        if (name !== null && name !== project.name) reader.refuse('name', 'must be the name of the project');
        accepted(reader.outcome(() => name));
        const prelude = projectErasures(id, nowMs, configuration);
        return { kind: 'project', id, record: null, isExisting: true, prelude, result: null };
      });
      reply.code(202);
      return { meta: { code: 202 } };
    },
  });
}

function addKeyRoute(app: FastifyInstance, { configuration }: Dependencies, edit: Edit): void {
  app.post<ById>('/v1/projects/:id/keys/rotate', {
    config: forOwners,
    schema: described({
      operationId: 'rotateKey',
      tag,
      summary: 'Replace a key',
      description: 'The old key is refused from now on. The new key is shown only once.',
      params: idParameter,
      body: keyBody,
      answer: answerOf({ key: Type.String({ description: 'The new key' }), project: Project }),
      failures: [404, 409],
      entityTag: 'matched and answered',
    }),
    handler: async (request, reply) => {
      const reader = new FieldReader(describedFields(request.body, keyBody));
      const environment = reader.requiredChoice('environment', environments);
      const kind = reader.requiredChoice('kind', keyKinds);
      const { id } = request.params;
      refuseOtherProject(request, id);
      const rotated = await edit({ request, reply }, `project/${id}`, (nowMs) => {
        const project = found(configuration.project(id), 'project');
        const place = accepted(reader.outcome(() => ({ environment: environment!, kind: kind! })));
        const result = withNewKey(project, place.environment, place.kind, nowMs);
        return { kind: 'project', id, record: result.project, isExisting: true, result };
      });
      return { meta: success, key: rotated.issued.key, project: projectJson(rotated.project) };
    },
  });
}

function addPlanRoute(app: FastifyInstance, { configuration }: Dependencies, edit: Edit): void {
  app.put<ById>('/v1/projects/:id/plan', {
    config,
    schema: described({
      operationId: 'setPlan',
      tag,
      summary: "Set a project's plan",
      description: 'Plans have an effect only where the operator enables them (`plans.enabled`).',
      params: idParameter,
      body: planBody,
      answer: one,
      failures: [404, 409],
      entityTag: 'matched and answered',
    }),
    handler: async (request, reply) => {
      const reader = new FieldReader(describedFields(request.body, planBody));
      const plan = required(projectFields.plan).read(reader, 'plan', {});
      const { id } = request.params;
      const project = await edit({ request, reply }, `project/${id}`, (nowMs) => {
        const current = found(configuration.project(id), 'project');
        const chosen = accepted(reader.outcome(() => plan));
        const record = { ...current, plan: chosen, updatedAt: nowMs };
        return { kind: 'project', id, record, isExisting: true, result: record };
      });
      return { meta: success, project: projectJson(project) };
    },
  });
}

/** Serves /v1/projects. The admin API key creates and lists projects; it and owners read, change and delete one. */
export const projectRoutes =
  (dependencies: Dependencies, edit: Edit): FastifyPluginAsync =>
  async (app) => {
    addProjectRoutes(app, dependencies);
    addOneProjectRoutes(app, dependencies, edit);
    addKeyRoute(app, dependencies, edit);
    addPlanRoute(app, dependencies, edit);
  };
