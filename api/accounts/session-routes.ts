/** The routes of sessions: the one of the request, those of its account, and their ends. */
import type { FastifyPluginAsync } from 'fastify';
import Type from 'typebox';
import { sessionOf } from '../../http/access/authority.js';
import type { ListedSession } from '../../http/access/session-store.js';
import { answerOf, type ById, described, found, idParameter, success } from '../../http/describe.js';
import { booleanField, schemaOf } from '../../http/fields/table.js';
import { Session, SignedInBrowser } from '../../schemas/json/account.js';
import { isoTime } from '../../schemas/wire/common.js';
import type { ApiDependencies } from '../dependencies.js';
import type { Edit } from '../edits.js';
import { newGeneration } from './accounts.js';
import type { AccountParts } from './dependencies.js';
import { changeAccount } from './edits.js';
import { readBody } from './fields.js';
import { accountOf, sessionJson } from './session.js';

const tag = 'accounts';
const config = { authority: 'session', limit: 'none' } as const;
const signOutFields = { everywhere: booleanField('Ends all sessions of the account') } as const;
const one = answerOf({ session: Session });

const browserJson = (session: ListedSession): SignedInBrowser => ({
  _id: session.id,
  current: session.isCurrent,
  project: session.project,
  userAgent: session.userAgent,
  startedAt: isoTime(session.startedAtMs),
  usedAt: isoTime(session.usedAtMs),
  expiresAt: isoTime(session.expiresAtMs),
});

/** Serves the session of the request, the sessions that it may end, and their ends. */
export const sessionRoutes =
  (dependencies: Pick<ApiDependencies, 'configuration'>, { sessions }: AccountParts, edit: Edit): FastifyPluginAsync =>
  async (app) => {
    const { configuration } = dependencies;

    app.get('/v1/session', {
      config,
      schema: described({ operationId: 'getSession', tag, summary: 'Get the session', answer: one }),
      handler: async (request) => ({ meta: success, session: sessionJson(sessionOf(request), configuration) }),
    });

    app.get('/v1/sessions', {
      config,
      schema: described({
        operationId: 'listSessions',
        tag,
        summary: 'List the browsers that are signed in',
        description:
          'Those of the account, and those that began by a one-time link to a project that it owns, newest first. ' +
          'At most 100 of the account, and 100 of each project. ' +
          'Sessions that began before the list was kept are not in it.',
        answer: answerOf({ sessions: Type.Array(SignedInBrowser) }),
      }),
      handler: async (request) => {
        const listed = await sessions.list(sessionOf(request));
        return { meta: success, sessions: listed.map(browserJson) };
      },
    });

    app.delete('/v1/sessions', {
      config,
      schema: described({
        operationId: 'endOtherSessions',
        tag,
        summary: 'Sign out all other browsers of the account',
        description: 'Ends all sessions of the account. This one gets a new cookie. Sessions of one-time links stay.',
        answer: one,
        failures: [409],
      }),
      handler: async (request, reply) => {
        const account = accountOf(sessionOf(request));
        const changed = await changeAccount(dependencies, edit, account, (current) => ({
          ...current,
          generation: newGeneration(),
        }));
        const session = await sessions.start(request, reply, { account: changed });
        return { meta: success, session: sessionJson(session, configuration) };
      },
    });

    app.delete<ById>('/v1/sessions/:id', {
      config,
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
      config: { ...config, isRepeatable: true },
      schema: described({
        operationId: 'signOut',
        tag,
        summary: 'Sign out',
        body: schemaOf(signOutFields),
        answer: answerOf(),
        failures: [409],
      }),
      handler: async (request, reply) => {
        const { everywhere } = readBody(request, signOutFields);
        const { account } = sessionOf(request);
        if (everywhere === true && account !== null)
          await changeAccount(dependencies, edit, account, (current) => ({ ...current, generation: newGeneration() }));
        await sessions.end(request, reply);
        return { meta: success };
      },
    });
  };
