/** The routes that create accounts by sign-up. The operator switches them on. */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { answerOf, described, success } from '../../http/describe.js';
import { accepted } from '../../http/fields/reader.js';
import { schemaOf, textField } from '../../http/fields/table.js';
import { ApiError } from '../../schemas/errors.js';
import { Account, Session } from '../../schemas/json/account.js';
import { Project } from '../../schemas/json/project.js';
import type { ApiDependencies } from '../dependencies.js';
import { maxProjectNameLength } from '../projects/projects.js';
import { projectJson } from '../projects/routes.js';
import { accountIdOf, accountJson } from './accounts.js';
import type { AccountParts, PendingSignUp } from './dependencies.js';
import { emailField, passwordField, readBody, tokenField } from './fields.js';
import { createLimits } from './limits.js';
import { alreadyRegisteredMail, confirmationMail } from './mails.js';
import { checkNewPassword } from './passwords.js';
import { sessionJson } from './session.js';
import { createAccountAndProject } from './sign-up.js';
import { wrongToken } from './tokens.js';

const tag = 'accounts';
const config = { authority: 'sign-in', limit: 'none' } as const;

const signUpFields = {
  email: emailField,
  password: passwordField,
  project: textField({ maxLength: maxProjectNameLength }, 'Name of the project; default: My project'),
} as const;
const confirmationFields = { token: tokenField } as const;

const created = { account: Account, project: Project, session: Session };

/**
 * Serves POST /v1/signup and /v1/signup/confirm. A confirmed sign-up creates the account and its first project, and
 * starts a session.
 */
export const signUpRoutes =
  (dependencies: ApiDependencies, parts: AccountParts): FastifyPluginAsync =>
  async (app) => {
    const limits = createLimits(parts);

    async function create(request: FastifyRequest, reply: FastifyReply, pending: PendingSignUp) {
      const { account, project, keys } = await createAccountAndProject(dependencies, pending);
      const session = await parts.sessions.start(request, reply, { account });
      return {
        meta: success,
        account: accountJson(account),
        project: projectJson(project, keys),
        session: sessionJson(session, dependencies.configuration),
      };
    }

    /** Answers, and does the same work, whether the address has an account or not. */
    async function mailConfirmation(pending: PendingSignUp) {
      await dependencies.writer.catchUp();
      const token = await parts.signUpTokens.issue(pending);
      const isTaken = dependencies.configuration.account(accountIdOf(pending.email)) !== undefined;
      const url = parts.publicUrl();
      parts.post(isTaken ? alreadyRegisteredMail(pending.email, url) : confirmationMail(pending.email, token, url));
      return { meta: success, confirmation: 'mailed' };
    }

    app.post('/v1/signup', {
      config,
      schema: described({
        operationId: 'signUp',
        tag,
        summary: 'Create an account with a project',
        description:
          'The answer contains the four keys in plain text. They are shown only once. The caller is signed in. If ' +
          'the server confirms addresses (`signup.confirmation`), the answer has only `confirmation`. The link in ' +
          'the mail creates the account. Refused with `not_available` unless `signup.enabled` is on.',
        body: schemaOf(signUpFields),
        answer: answerOf({
          account: Type.Optional(Account),
          project: Type.Optional(Project),
          session: Type.Optional(Session),
          confirmation: Type.Optional(Type.Literal('mailed')),
        }),
        failures: [409],
      }),
      handler: async (request, reply) => {
        if (parts.signUp === 'off')
          throw new ApiError(
            'not_available',
            'sign-up is off: ask an owner of a project for an invitation, or set signup.enabled',
          );
        const { email, password, project } = readBody(request, signUpFields);
        await limits.signUp(request, email);
        accepted(checkNewPassword(password, email));
        const passwordHash = await parts.passwords.hash(password);
        const pending = { email, passwordHash, project: project ?? 'My project' };
        return parts.confirmation === 'mail' ? mailConfirmation(pending) : create(request, reply, pending);
      },
    });

    app.post('/v1/signup/confirm', {
      config,
      schema: described({
        operationId: 'confirmSignUp',
        tag,
        summary: 'Create the account of a confirmed address',
        description: 'With the token of the mail. The answer is that of a sign-up without confirmation.',
        body: schemaOf(confirmationFields),
        answer: answerOf(created),
        failures: [409],
      }),
      handler: async (request, reply) => {
        const { token } = readBody(request, confirmationFields);
        await limits.token(request);
        const pending = await parts.signUpTokens.redeem(token);
        if (pending === undefined) throw wrongToken();
        return create(request, reply, pending);
      },
    });
  };
