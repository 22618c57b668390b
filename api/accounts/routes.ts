/** The routes of accounts, sessions, members and invitations. */
import type { FastifyPluginAsync } from 'fastify';
import type { ApiDependencies } from '../dependencies.js';
import type { Edit } from '../edits.js';
import { acceptanceRoutes } from './acceptance-routes.js';
import { deletionRoutes } from './deletion-routes.js';
import { invitationRoutes } from './invitation-routes.js';
import { memberRoutes } from './member-routes.js';
import { passwordRoutes } from './password-routes.js';
import { accountProjectRoutes } from './project-routes.js';
import { sessionRoutes } from './session-routes.js';
import { signInRoutes } from './sign-in-routes.js';
import { signUpRoutes } from './sign-up-routes.js';

/** Serves all routes of accounts, sessions, members and invitations. */
export const accountRoutes =
  (deps: ApiDependencies, edit: Edit): FastifyPluginAsync =>
  async (app) => {
    const { accounts: parts } = deps;
    await app.register(signUpRoutes(deps, parts));
    await app.register(signInRoutes(deps, parts, edit));
    await app.register(sessionRoutes(deps, parts, edit));
    await app.register(deletionRoutes(deps, parts, edit));
    await app.register(passwordRoutes(deps, parts, edit));
    await app.register(memberRoutes(deps, edit));
    await app.register(invitationRoutes(deps, parts, edit));
    await app.register(acceptanceRoutes(deps, parts, edit));
    await app.register(accountProjectRoutes(deps, parts));
  };
