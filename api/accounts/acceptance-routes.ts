/** The routes by which somebody who was invited sees to what, and becomes a member. */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { answerOf, described, success } from '../../http/describe.js';
import { accepted } from '../../http/fields/reader.js';
import { schemaOf } from '../../http/fields/table.js';
import { type AccountRecord, ReceivedInvitation, Session } from '../../schemas/json/account.js';
import { isoTime } from '../../schemas/wire/common.js';
import type { ApiDependencies } from '../dependencies.js';
import type { Edit } from '../edits.js';
import { accountIdOf, invitationOf, projectOfInvitation, withAccepted } from './accounts.js';
import type { AccountParts } from './dependencies.js';
import { withoutRevision, wrongPassword } from './edits.js';
import { passwordField, readBody, tokenField } from './fields.js';
import { createLimits } from './limits.js';
import { checkNewPassword } from './passwords.js';
import { sessionJson } from './session.js';
import { createAccount } from './sign-up.js';
import { wrongToken } from './tokens.js';

const tokenFields = { token: tokenField } as const;
const fields = { ...tokenFields, password: passwordField } as const;

/**
 * Serves POST /v1/invitations/preview and /accept. The first says what the mail with the token said, and how an answer
 * to the second would differ. The second makes the address of an invitation a member, creates its account if it has
 * none, and starts a session. A token works once.
 */
export const acceptanceRoutes =
  (dependencies: ApiDependencies, parts: AccountParts, edit: Edit): FastifyPluginAsync =>
  async (app) => {
    const { configuration, writer, clock } = dependencies;
    const limits = createLimits(parts);

    /** Returns the account of the address, if the password is right, or creates it. */
    async function accountFor(request: FastifyRequest, email: string, password: string): Promise<AccountRecord> {
      const existing = configuration.account(accountIdOf(email));
      if (existing === undefined) {
        accepted(checkNewPassword(password, email));
        return createAccount(dependencies, email, await parts.passwords.hash(password));
      }
      await limits.signIn(request, email);
      if (await parts.passwords.verify(password, existing.passwordHash)) return existing;
      throw wrongPassword();
    }

    /** Returns the open invitation of a token, with its project. Throws for a token that is wrong. */
    function open(token: string, nowMs: number) {
      const project = configuration.project(projectOfInvitation(token) ?? '');
      const invitation = project && invitationOf(project, token, nowMs);
      if (project === undefined || invitation === undefined) throw wrongToken();
      return { project, invitation };
    }

    async function accept(request: FastifyRequest, reply: FastifyReply, token: string, password: string) {
      await writer.catchUp();
      // The account first: if the process ends here, the token still works, with the same password.
      const { project, invitation } = open(token, clock());
      const account = await accountFor(request, invitation.email, password);
      await edit(withoutRevision, `project/${project._id}`, (nowMs) => {
        const { project, invitation } = open(token, nowMs);
        const record = withAccepted(project, invitation, account, nowMs);
        return { kind: 'project', id: project._id, record, isExisting: true, result: null };
      });
      const session = await parts.sessions.start(request, reply, { account });
      return { meta: success, session: sessionJson(session, configuration) };
    }

    app.post('/v1/invitations/preview', {
      config: { authority: 'sign-in', limit: 'none' },
      schema: described({
        operationId: 'previewInvitation',
        tag: 'members',
        summary: 'Show an invitation to its receiver',
        description: 'With the token of the mail. Changes nothing: the token still works.',
        body: schemaOf(tokenFields),
        answer: answerOf({ invitation: ReceivedInvitation }),
      }),
      handler: async (request) => {
        const { token } = readBody(request, tokenFields);
        await limits.token(request);
        await writer.catchUp();
        const { project, invitation } = open(token, clock());
        const { email, role, expiresAt } = invitation;
        const hasAccount = configuration.account(accountIdOf(email)) !== undefined;
        const shown = { project: project.name, email, role, hasAccount, expiresAt: isoTime(expiresAt) };
        return { meta: success, invitation: shown };
      },
    });

    app.post('/v1/invitations/accept', {
      config: { authority: 'sign-in', limit: 'none' },
      schema: described({
        operationId: 'acceptInvitation',
        tag: 'members',
        summary: 'Accept an invitation',
        description:
          'With the token of the mail, and the password of the account of the invited address. If the address has no ' +
          'account, one is created with the password. The caller is signed in.',
        body: schemaOf(fields),
        answer: answerOf({ session: Session }),
        failures: [409],
      }),
      handler: async (request, reply) => {
        const { token, password } = readBody(request, fields);
        await limits.token(request);
        return accept(request, reply, token, password);
      },
    });
  };
