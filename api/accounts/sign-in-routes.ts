/** The routes that start a session: by a password, and by a one-time link. */
import type { FastifyPluginAsync } from 'fastify';
import Type from 'typebox';
import { answerOf, described, found, success } from '../../http/describe.js';
import { schemaOf, textField } from '../../http/fields/table.js';
import { Session } from '../../schemas/json/account.js';
import { Timestamp } from '../../schemas/json/common.js';
import { isoTime } from '../../schemas/wire/common.js';
import type { ApiDependencies } from '../dependencies.js';
import type { Edit } from '../edits.js';
import { accountIdOf } from './accounts.js';
import type { AccountParts } from './dependencies.js';
import { changeAccount, wrongPassword } from './edits.js';
import { emailField, passwordField, readBody, tokenField } from './fields.js';
import { createLimits } from './limits.js';
import { accountLink } from './mails.js';
import { signInLinkTtlMs } from './parts.js';
import { sessionJson } from './session.js';
import { wrongToken } from './tokens.js';

const tag = 'accounts';
const signIn = { authority: 'sign-in', limit: 'none' } as const;

const signInFields = { email: emailField, password: passwordField } as const;
const tokenFields = { token: tokenField } as const;
const linkFields = { project: textField({}, 'Id of the project; default: the oldest one') } as const;

const one = answerOf({ session: Session });

/**
 * Serves POST /v1/signin, /v1/signin/link, and, for the admin API key, /v1/signin/links. A wrong password and an
 * unknown address have the same answer.
 */
export const signInRoutes =
  (dependencies: ApiDependencies, parts: AccountParts, edit: Edit): FastifyPluginAsync =>
  async (app) => {
    const { configuration, writer, clock } = dependencies;
    const { sessions, passwords } = parts;
    const limits = createLimits(parts);

    app.post('/v1/signin', {
      config: signIn,
      schema: described({
        operationId: 'signIn',
        tag,
        summary: 'Sign in',
        description: 'Sets the session cookie. A wrong password and an unknown address have the same answer.',
        body: schemaOf(signInFields),
        answer: one,
      }),
      handler: async (request, reply) => {
        const { email, password } = readBody(request, signInFields);
        await limits.signIn(request, email);
        await writer.catchUp();
        const account = configuration.account(accountIdOf(email));
        const isRight = await passwords.verify(password, account?.passwordHash);
        if (!isRight || account === undefined) throw wrongPassword();
        if (!passwords.isCurrent(account.passwordHash)) {
          const passwordHash = await passwords.hash(password);
          await changeAccount(dependencies, edit, account, (current) => ({ ...current, passwordHash }));
        }
        const session = await sessions.start(request, reply, { account });
        return { meta: success, session: sessionJson(session, configuration) };
      },
    });

    app.post('/v1/signin/link', {
      config: signIn,
      schema: described({
        operationId: 'signInByLink',
        tag,
        summary: 'Sign in by a one-time link',
        description: 'Sets the session cookie of an owner of the project, without an account. The token works once.',
        body: schemaOf(tokenFields),
        answer: one,
      }),
      handler: async (request, reply) => {
        const { token } = readBody(request, tokenFields);
        await limits.token(request);
        const link = await parts.linkTokens.redeem(token);
        if (link === undefined) throw wrongToken();
        const session = await sessions.start(request, reply, { project: link.project });
        return { meta: success, session: sessionJson(session, configuration) };
      },
    });

    app.post('/v1/signin/links', {
      config: { authority: 'admin', limit: 'none' },
      schema: described({
        operationId: 'createSignInLink',
        tag,
        summary: 'Create a one-time sign-in link',
        description: 'Whoever opens the link first is signed in as owner of the project. It expires after an hour.',
        body: schemaOf(linkFields),
        answer: answerOf({ token: Type.String(), url: Type.String(), expiresAt: Timestamp }),
        failures: [404],
      }),
      handler: async (request) => {
        const { project: id } = readBody(request, linkFields);
        await writer.catchUp();
        const oldest = configuration.projects().toSorted((a, b) => a.createdAt - b.createdAt)[0];
        const project = found(id === null ? oldest : configuration.project(id), 'project');
        const token = await parts.linkTokens.issue({ project: project._id });
        const expiresAt = isoTime(clock() + signInLinkTtlMs);
        return { meta: success, token, url: accountLink(parts.publicUrl(), 'signin', token), expiresAt };
      },
    });
  };
