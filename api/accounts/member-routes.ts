/** The routes of a project's members. */
import type { FastifyPluginAsync } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import { answerOf, type ById, described, found, idParameter, listOf, success } from '../../http/describe.js';
import { accepted, type RawFields } from '../../http/fields/reader.js';
import { schemaOf } from '../../http/fields/table.js';
import { Member } from '../../schemas/json/account.js';
import type { ProjectRecord } from '../../schemas/json/project.js';
import { isoTime } from '../../schemas/wire/common.js';
import type { ApiDependencies } from '../dependencies.js';
import type { Edit } from '../edits.js';
import { listPaging, readShortListQuery, shortListParameters, shortPage } from '../lists.js';
import { withRole } from './accounts.js';
import { createProjectEditor } from './edits.js';
import { readBody, roleField } from './fields.js';

const tag = 'members';
const forOwners = { authority: 'owner', limit: 'management' } as const;
const roleFields = { role: roleField } as const;
const members = answerOf({ members: Type.Array(Member) });

/** Serves /v1/members: members read the list; owners change roles and remove members. The last owner stays: 409. */
export const memberRoutes =
  ({ configuration }: Pick<ApiDependencies, 'configuration'>, edit: Edit): FastifyPluginAsync =>
  async (app) => {
    const editProject = createProjectEditor(configuration, edit);

    /** Returns the members whose accounts exist. */
    const presentMembers = (project: ProjectRecord) =>
      (project.members ?? []).flatMap(({ account: id, accountCreatedAt, role, createdAt }) => {
        const account = configuration.account(id);
        if (account?.createdAt !== accountCreatedAt) return [];
        const json: Member = { _id: id, email: account.email, role, createdAt: isoTime(createdAt) };
        return [{ _id: id, createdAt, json }];
      });
    const membersJson = (project: ProjectRecord): Member[] => presentMembers(project).map(({ json }) => json);

    app.get('/v1/members', {
      config: { authority: 'member', limit: 'management' },
      schema: described({
        operationId: 'listMembers',
        tag,
        summary: "List the project's members, newest first",
        description: listPaging,
        querystring: shortListParameters,
        answer: listOf({ members: Type.Array(Member) }, { cursor: true }),
      }),
      handler: async (request) => {
        const query = accepted(readShortListQuery(request.query as RawFields));
        const project = found(configuration.project(callerOf(request).project), 'project');
        const { rows, meta } = shortPage(presentMembers(project), query);
        return { meta, members: rows.map(({ json }) => json) };
      },
    });

    app.put<ById>('/v1/members/:id', {
      config: forOwners,
      schema: described({
        operationId: 'changeMember',
        tag,
        summary: "Change a member's role",
        description: 'A project keeps at least one owner.',
        params: idParameter,
        body: schemaOf(roleFields),
        answer: members,
        failures: [404, 409],
      }),
      handler: async (request) => {
        const { role } = readBody(request, roleFields);
        const project = await editProject(request, (current, nowMs) =>
          withRole(current, request.params.id, role, nowMs),
        );
        return { meta: success, members: membersJson(project) };
      },
    });

    app.delete<ById>('/v1/members/:id', {
      config: forOwners,
      schema: described({
        operationId: 'removeMember',
        tag,
        summary: 'Remove a member',
        description: 'Their sessions lose the project at once. A project keeps at least one owner.',
        params: idParameter,
        answer: members,
        failures: [404, 409],
      }),
      handler: async (request) => {
        const project = await editProject(request, (current, nowMs) =>
          withRole(current, request.params.id, null, nowMs),
        );
        return { meta: success, members: membersJson(project) };
      },
    });
  };
