/** The route by which somebody who was invited becomes a member. */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { answerOf, described, success } from '../../http/describe.js';
import { accepted } from '../../http/fields/reader.js';
import { schemaOf } from '../../http/fields/table.js';
import { type AccountRecord, Session } from '../../schemas/json/account.js';
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

const fields = { token: tokenField, password: passwordField } as const;

/**
 * Serves POST /v1/invitations/accept: makes the address of an invitation a member, creates its account if it has none,
 * and starts a session. A token works once.
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
        tag: 'members',
        summary: 'Accept an invitation',
        description:
          'With the token of the mail, and the password of the account of the invited address. If the address has no ' +
          'account, one is created with the password. The caller is signed in.',
        body: schemaOf(fields),
        answer: answerOf({ session: Session }),
        failures: [400, 409, 503],
      }),
      handler: async (request, reply) => {
        const { token, password } = readBody(request, fields);
        await limits.token(request);
        return accept(request, reply, token, password);
      },
    });
  };
