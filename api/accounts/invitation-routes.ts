/** The routes of invitations: a project's owners send and withdraw them. */
import type { FastifyPluginAsync } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import { answerOf, type ById, described, found, idParameter, listOf, success } from '../../http/describe.js';
import { accepted, type RawFields } from '../../http/fields/reader.js';
import { schemaOf } from '../../http/fields/table.js';
import { Invitation } from '../../schemas/json/account.js';
import type { ApiDependencies } from '../dependencies.js';
import type { Edit } from '../edits.js';
import { listPaging, readShortListQuery, shortListParameters, shortPage } from '../lists.js';
import { invitationJson, newInvitation, withInvitation, withoutInvitation } from './accounts.js';
import type { AccountParts } from './dependencies.js';
import { createProjectEditor } from './edits.js';
import { emailField, readBody, roleField } from './fields.js';
import { createLimits } from './limits.js';
import { invitationMail } from './mails.js';

const tag = 'members';
const config = { authority: 'owner', limit: 'management' } as const;
const invitationFields = { email: emailField, role: roleField } as const;

/** Serves POST, GET and DELETE of /v1/invitations, for owners of the session's project. */
export const invitationRoutes =
  (
    { configuration, clock }: Pick<ApiDependencies, 'configuration' | 'clock'>,
    parts: AccountParts,
    edit: Edit,
  ): FastifyPluginAsync =>
  async (app) => {
    const limits = createLimits(parts);
    const editProject = createProjectEditor(configuration, edit);

    app.post('/v1/invitations', {
      config,
      schema: described({
        operationId: 'invite',
        tag,
        summary: 'Invite somebody to the project',
        description:
          'Mails a link that works once, within seven days. It also creates an account for an address without one, ' +
          'even while sign-up is off. An earlier invitation of the address is replaced.',
        body: schemaOf(invitationFields),
        answer: answerOf({ invitation: Invitation }),
        failures: [409],
      }),
      handler: async (request) => {
        const { email, role } = readBody(request, invitationFields);
        const { project: id } = callerOf(request);
        await limits.invite(id, email);
        const { record, token } = newInvitation(id, email, role, clock());
        const project = await editProject(request, (current, nowMs) => withInvitation(current, record, nowMs));
        parts.post(invitationMail(email, { project, role, token }, parts.publicUrl()));
        return { meta: success, invitation: invitationJson(record) };
      },
    });

    app.get('/v1/invitations', {
      config,
      schema: described({
        operationId: 'listInvitations',
        tag,
        summary: 'List the open invitations, newest first',
        description: listPaging,
        querystring: shortListParameters,
        answer: listOf({ invitations: Type.Array(Invitation) }, { cursor: true }),
      }),
      handler: async (request) => {
        const query = accepted(readShortListQuery(request.query as RawFields));
        const { invitations = [] } = found(configuration.project(callerOf(request).project), 'project');
        const open = invitations.filter(({ expiresAt }) => expiresAt > clock());
        const { rows, meta } = shortPage(open, query);
        return { meta, invitations: rows.map(invitationJson) };
      },
    });

    app.delete<ById>('/v1/invitations/:id', {
      config,
      schema: described({
        operationId: 'withdrawInvitation',
        tag,
        summary: 'Withdraw an invitation',
        params: idParameter,
        answer: answerOf(),
        failures: [404, 409],
      }),
      handler: async (request) => {
        await editProject(request, (current, nowMs) => withoutInvitation(current, request.params.id, nowMs));
        return { meta: success };
      },
    });
  };
