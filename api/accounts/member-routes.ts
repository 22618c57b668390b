/** The routes of a project's members and invitations. */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import { answerOf, described, found, idParameter, listOf, success } from '../../http/describe.js';
import { accepted, type RawFields } from '../../http/fields/reader.js';
import { choiceField, required, schemaOf } from '../../http/fields/table.js';
import { type AccountRecord, Invitation, Member, Session } from '../../schemas/json/account.js';
import type { ProjectRecord } from '../../schemas/json/project.js';
import { isoTime } from '../../schemas/wire/common.js';
import type { ApiDependencies } from '../dependencies.js';
import type { Edit } from '../edits.js';
import { listPaging, readShortListQuery, shortListParameters, shortPage } from '../lists.js';
import {
  accountIdOf,
  invitationJson,
  invitationOf,
  newInvitation,
  projectOfInvitation,
  withAccepted,
  withInvitation,
  withoutInvitation,
  withRole,
} from './accounts.js';
import type { AccountParts } from './dependencies.js';
import { withoutRevision, wrongPassword } from './edits.js';
import { emailField, passwordField, readBody, tokenField } from './fields.js';
import { createLimits } from './limits.js';
import { invitationMail } from './mails.js';
import { checkNewPassword } from './passwords.js';
import { sessionJson } from './session.js';
import { createAccount } from './sign-up.js';
import { wrongToken } from './tokens.js';

type ById = { Params: { id: string } };

const tag = 'members';
const forMembers = { authority: 'member', limit: 'management' } as const;
const forOwners = { authority: 'owner', limit: 'management' } as const;

const roleField = required(choiceField(['owner', 'viewer'], 'An owner may do everything; a viewer may read'));
const roleFields = { role: roleField } as const;
const invitationFields = { email: emailField, role: roleField } as const;
const acceptanceFields = { token: tokenField, password: passwordField } as const;

const members = answerOf({ members: Type.Array(Member) });

/** Newest first. */
const paged = { description: listPaging, querystring: shortListParameters, failures: [400] } as const;

export const memberRoutes =
  (deps: ApiDependencies, parts: AccountParts, edit: Edit): FastifyPluginAsync =>
  async (app) => {
    const { configuration, writer, clock } = deps;
    const limits = createLimits(parts);

    /** Changes the project of the request's session. */
    const editProject = (
      request: FastifyRequest,
      change: (project: ProjectRecord, nowMs: number) => ProjectRecord,
    ): Promise<ProjectRecord> => {
      const { project: id } = callerOf(request);
      const { confirmAuthority } = request;
      return edit({ ...withoutRevision, request: { headers: {}, confirmAuthority } }, `project/${id}`, (nowMs) => {
        const record = change(found(configuration.project(id), 'project'), nowMs);
        return { kind: 'project', id, record, isExisting: true, result: record };
      });
    };

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
      config: forMembers,
      schema: described({
        operationId: 'listMembers',
        tag,
        summary: "List the project's members, newest first",
        answer: listOf({ members: Type.Array(Member) }, { cursor: true }),
        ...paged,
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
        failures: [400, 404, 409],
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

    app.post('/v1/invitations', {
      config: forOwners,
      schema: described({
        operationId: 'invite',
        tag,
        summary: 'Invite somebody to the project',
        description:
          'Mails a link that works once, within seven days. It also creates an account for an address without one, ' +
          'even while sign-up is off. An earlier invitation of the address is replaced.',
        body: schemaOf(invitationFields),
        answer: answerOf({ invitation: Invitation }),
        failures: [400, 409],
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
      config: forOwners,
      schema: described({
        operationId: 'listInvitations',
        tag,
        summary: 'List the open invitations, newest first',
        answer: listOf({ invitations: Type.Array(Invitation) }, { cursor: true }),
        ...paged,
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
      config: forOwners,
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

    /** Returns the account of the address, if the password is right, or creates it. */
    async function accountFor(request: FastifyRequest, email: string, password: string): Promise<AccountRecord> {
      const existing = configuration.account(accountIdOf(email));
      if (existing === undefined) {
        accepted(checkNewPassword('password', password, email));
        return createAccount(deps, email, await parts.passwords.hash(password));
      }
      await limits.signIn(request, email);
      if (await parts.passwords.verify(password, existing.passwordHash)) return existing;
      throw wrongPassword();
    }

    async function accept(request: FastifyRequest, reply: FastifyReply, token: string, password: string) {
      await writer.catchUp();
      const id = projectOfInvitation(token) ?? '';
      const open = (nowMs: number) => {
        const project = configuration.project(id);
        const invitation = project && invitationOf(project, token, nowMs);
        if (project === undefined || invitation === undefined) throw wrongToken();
        return { project, invitation };
      };
      // The account first: if the process ends here, the token still works, with the same password.
      const account = await accountFor(request, open(clock()).invitation.email, password);
      await edit(withoutRevision, `project/${id}`, (nowMs) => {
        const { project, invitation } = open(nowMs);
        const record = withAccepted(project, invitation, account, nowMs);
        return { kind: 'project', id, record, isExisting: true, result: null };
      });
      const session = await parts.sessions.start(request, reply, { account });
      return { meta: success, session: sessionJson(session, configuration) };
    }

    app.post('/v1/invitations/accept', {
      config: { authority: 'sign-in', limit: 'none' },
      schema: described({
        operationId: 'acceptInvitation',
        tag,
        summary: 'Accept an invitation',
        description:
          'With the token of the mail, and the password of the account of the invited address. If the address has no ' +
          'account, one is created with the password. The caller is signed in.',
        body: schemaOf(acceptanceFields),
        answer: answerOf({ session: Session }),
        failures: [400, 409, 503],
      }),
      handler: async (request, reply) => {
        const { token, password } = readBody(request, acceptanceFields);
        await limits.token(request);
        return accept(request, reply, token, password);
      },
    });
  };
