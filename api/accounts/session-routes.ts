/** The routes of sessions: signing in and out, one-time links, and the account of the session. */
import type { FastifyPluginAsync } from 'fastify';
import Type from 'typebox';
import { sessionOf } from '../../http/access/authority.js';
import type { ListedSession } from '../../http/access/sessions.js';
import { answerOf, described, found, idParameter, success } from '../../http/describe.js';
import { booleanField, schemaOf, textField } from '../../http/fields/table.js';
import { Session, SignedInBrowser } from '../../schemas/json/account.js';
import { Timestamp } from '../../schemas/json/common.js';
import { isoTime } from '../../schemas/wire/common.js';
import type { ApiDependencies } from '../dependencies.js';
import type { Edit } from '../edits.js';
import { accountIdOf, newGeneration, withoutAccount } from './accounts.js';
import type { AccountParts } from './dependencies.js';
import { changeAccount, withoutRevision, wrongPassword } from './edits.js';
import { emailField, passwordField, readBody, tokenField } from './fields.js';
import { createLimits } from './limits.js';
import { accountLink } from './mails.js';
import { signInLinkTtlMs } from './parts.js';
import { accountOf, sessionJson } from './session.js';
import { wrongToken } from './tokens.js';

const tag = 'accounts';
const signIn = { authority: 'sign-in', limit: 'none' } as const;
const withSession = { authority: 'session', limit: 'none' } as const;

const signInFields = { email: emailField, password: passwordField } as const;
const tokenFields = { token: tokenField } as const;
const linkFields = { project: textField({}, 'Id of the project; default: the oldest one') } as const;
const signOutFields = { everywhere: booleanField('Ends all sessions of the account') } as const;
const deletionFields = { password: passwordField } as const;

const one = answerOf({ session: Session });

const browserJson = (session: ListedSession): SignedInBrowser => ({
  _id: session.id,
  current: session.isCurrent,
  userAgent: session.userAgent,
  startedAt: isoTime(session.startedAtMs),
  usedAt: isoTime(session.usedAtMs),
  expiresAt: isoTime(session.expiresAtMs),
});

export const sessionRoutes =
  (deps: ApiDependencies, parts: AccountParts, edit: Edit): FastifyPluginAsync =>
  async (app) => {
    const { configuration, writer, clock } = deps;
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
        failures: [400, 503],
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
          await changeAccount(deps, edit, account, (current) => ({ ...current, passwordHash }));
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
        failures: [400],
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
        failures: [400, 404],
      }),
      handler: async (request) => {
        const { project: id } = readBody(request, linkFields);
        await writer.catchUp();
        const oldest = configuration.projects().sort((a, b) => a.createdAt - b.createdAt)[0];
        const project = found(id === null ? oldest : configuration.project(id), 'project');
        const token = await parts.linkTokens.issue({ project: project._id });
        const expiresAt = isoTime(clock() + signInLinkTtlMs);
        return { meta: success, token, url: accountLink(parts.publicUrl(), 'signin', token), expiresAt };
      },
    });

    app.get('/v1/session', {
      config: withSession,
      schema: described({ operationId: 'getSession', tag, summary: 'Get the session', answer: one }),
      handler: async (request) => ({ meta: success, session: sessionJson(sessionOf(request), configuration) }),
    });

    app.get('/v1/sessions', {
      config: withSession,
      schema: described({
        operationId: 'listSessions',
        tag,
        summary: 'List the browsers that are signed in',
        description:
          'Those of the account, newest first, at most 100. A session of a one-time link sees only itself. ' +
          'Sessions that began before the list was kept are not in it.',
        answer: answerOf({ sessions: Type.Array(SignedInBrowser) }),
      }),
      handler: async (request) => {
        const listed = await sessions.list(sessionOf(request));
        return { meta: success, sessions: listed.map(browserJson) };
      },
    });

    app.delete('/v1/sessions', {
      config: withSession,
      schema: described({
        operationId: 'endOtherSessions',
        tag,
        summary: 'Sign out all other browsers',
        description: 'Ends all sessions of the account. This one gets a new cookie.',
        answer: one,
        failures: [409],
      }),
      handler: async (request, reply) => {
        const account = accountOf(sessionOf(request));
        const changed = await changeAccount(deps, edit, account, (current) => ({
          ...current,
          generation: newGeneration(),
        }));
        const session = await sessions.start(request, reply, { account: changed });
        return { meta: success, session: sessionJson(session, configuration) };
      },
    });

    app.delete<{ Params: { id: string } }>('/v1/sessions/:id', {
      config: withSession,
      schema: described({
        operationId: 'endSession',
        tag,
        summary: 'Sign out a browser',
        params: idParameter,
        answer: answerOf(),
        failures: [404],
      }),
      handler: async (request) => {
        found((await sessions.endListed(sessionOf(request), request.params.id)) || undefined, 'session');
        return { meta: success };
      },
    });

    app.post('/v1/signout', {
      config: withSession,
      schema: described({
        operationId: 'signOut',
        tag,
        summary: 'Sign out',
        body: schemaOf(signOutFields),
        answer: answerOf(),
        failures: [400, 409],
      }),
      handler: async (request, reply) => {
        const { everywhere } = readBody(request, signOutFields);
        const { account } = sessionOf(request);
        if (everywhere === true && account !== null)
          await changeAccount(deps, edit, account, (current) => ({ ...current, generation: newGeneration() }));
        await sessions.end(request, reply);
        return { meta: success };
      },
    });

    app.post('/v1/account/delete', {
      config: withSession,
      schema: described({
        operationId: 'deleteAccount',
        tag,
        summary: 'Delete the account',
        description:
          'Removes the account from all projects, deletes it with its address, and ends its sessions. Projects stay. ' +
          'Refused while the account is the only owner of a project with other members.',
        body: schemaOf(deletionFields),
        answer: answerOf(),
        failures: [400, 409, 503],
      }),
      handler: async (request, reply) => {
        const { password } = readBody(request, deletionFields);
        const account = accountOf(sessionOf(request));
        await limits.signIn(request, account.email);
        if (!(await passwords.verify(password, account.passwordHash))) throw wrongPassword();
        await writer.catchUp();
        const nowMs = writer.nextTimestamp();
        const affected = configuration.projects().filter((project) => withoutAccount(project, account, nowMs));
        // Memberships first: an account that is gone can no longer be removed from them.
        for (const { _id: id } of affected) {
          await edit(withoutRevision, `project/${id}`, (atMs) => {
            const project = found(configuration.project(id), 'project');
            const record = withoutAccount(project, account, atMs) ?? project;
            return { kind: 'project', id, record, isExisting: true, result: null };
          });
        }
        await edit(withoutRevision, `account/${account._id}`, () => ({
          kind: 'account',
          id: account._id,
          record: null,
          isExisting: true,
          result: null,
        }));
        await sessions.end(request, reply);
        return { meta: success };
      },
    });
  };
