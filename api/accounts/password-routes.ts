/** The routes of passwords: reset by mail, and change. */
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import { sessionOf } from '../../http/access/authority.js';
import { answerOf, described, success } from '../../http/describe.js';
import { accepted } from '../../http/fields/reader.js';
import { schemaOf } from '../../http/fields/table.js';
import { Session } from '../../schemas/json/account.js';
import type { ApiDependencies } from '../dependencies.js';
import type { Edit } from '../edits.js';
import { accountIdOf, newGeneration } from './accounts.js';
import type { AccountParts } from './dependencies.js';
import { changeAccount, wrongPasswordAt } from './edits.js';
import { emailField, passwordField, readBody, tokenField } from './fields.js';
import { createLimits } from './limits.js';
import { resetMail } from './mails.js';
import { checkNewPassword } from './passwords.js';
import { accountOf, sessionJson } from './session.js';
import { wrongToken } from './tokens.js';

const tag = 'accounts';
const signIn = { authority: 'sign-in', limit: 'none' } as const;

const requestFields = { email: emailField } as const;
const resetFields = { token: tokenField, password: passwordField } as const;
const changeFields = { current: passwordField, password: passwordField } as const;

type Limits = ReturnType<typeof createLimits>;

/** Adds the request of a mail with a token, and the new password by the token. */
function addResetRoutes(
  app: FastifyInstance,
  dependencies: ApiDependencies,
  parts: AccountParts,
  edit: Edit,
  limits: Limits,
): void {
  const { configuration, writer } = dependencies;
  const { passwords, resetTokens } = parts;

  app.post('/v1/password/reset', {
    config: signIn,
    schema: described({
      operationId: 'requestPasswordReset',
      tag,
      summary: 'Mail a link to reset the password',
      description: 'The answer is the same whether the address has an account or not.',
      body: schemaOf(requestFields),
      answer: answerOf(),
    }),
    handler: async (request) => {
      const { email } = readBody(request, requestFields);
      await limits.reset(request, email);
      await writer.catchUp();
      const account = configuration.account(accountIdOf(email));
      // An unknown address gets a token too, which nobody receives: both take the same work.
      const token = await resetTokens.issue({
        account: account?._id ?? null,
        generation: account?.generation ?? newGeneration(),
      });
      if (account) parts.post(resetMail(account.email, token, parts.publicUrl()));
      return { meta: success };
    },
  });

  app.post('/v1/password/reset/confirm', {
    config: signIn,
    schema: described({
      operationId: 'resetPassword',
      tag,
      summary: 'Choose a new password by the token of a mail',
      description:
        'Ends all sessions of the account. The token works once, and not after another change of the password.',
      body: schemaOf(resetFields),
      answer: answerOf(),
    }),
    handler: async (request) => {
      const { token, password } = readBody(request, resetFields);
      await limits.token(request);
      await writer.catchUp();
      const reset = await resetTokens.read(token);
      const account = reset?.account ? configuration.account(reset.account) : undefined;
      if (account === undefined || account.generation !== reset?.generation) throw wrongToken();
      accepted(checkNewPassword(password, account.email));
      const passwordHash = await passwords.hash(password);
      // Used up only now, so that a password that breaks the rules costs no token.
      if ((await resetTokens.redeem(token)) === undefined) throw wrongToken();
      await changeAccount(dependencies, edit, account, (current) => ({
        ...current,
        passwordHash,
        generation: newGeneration(),
      }));
      return { meta: success };
    },
  });
}

function addChangeRoute(
  app: FastifyInstance,
  dependencies: ApiDependencies,
  { passwords, sessions }: AccountParts,
  edit: Edit,
  limits: Limits,
): void {
  app.put('/v1/password', {
    config: { authority: 'session', limit: 'none' },
    schema: described({
      operationId: 'changePassword',
      tag,
      summary: 'Change the password',
      description: 'Requires the current password. Ends all other sessions of the account; this one gets a new cookie.',
      body: schemaOf(changeFields),
      answer: answerOf({ session: Session }),
      failures: [409],
    }),
    handler: async (request, reply) => {
      const { current, password } = readBody(request, changeFields);
      const account = accountOf(sessionOf(request));
      await limits.signIn(request, account.email);
      if (!(await passwords.verify(current, account.passwordHash))) throw wrongPasswordAt('current');
      accepted(checkNewPassword(password, account.email));
      const passwordHash = await passwords.hash(password);
      const changed = await changeAccount(dependencies, edit, account, (record) => ({
        ...record,
        passwordHash,
        generation: newGeneration(),
      }));
      const session = await sessions.start(request, reply, { account: changed });
      return { meta: success, session: sessionJson(session, dependencies.configuration) };
    },
  });
}

/**
 * Serves the reset of a password by mail (POST /v1/password/reset and …/confirm) and its change (PUT /v1/password). A
 * reset ends all sessions of the account; a change ends all others.
 */
export const passwordRoutes =
  (dependencies: ApiDependencies, parts: AccountParts, edit: Edit): FastifyPluginAsync =>
  async (app) => {
    const limits = createLimits(parts);
    addResetRoutes(app, dependencies, parts, edit, limits);
    addChangeRoute(app, dependencies, parts, edit, limits);
  };
