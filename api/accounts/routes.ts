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
  (dependencies: ApiDependencies, edit: Edit): FastifyPluginAsync =>
  async (app) => {
    const { accounts: parts } = dependencies;
    await app.register(signUpRoutes(dependencies, parts));
    await app.register(signInRoutes(dependencies, parts, edit));
    await app.register(sessionRoutes(dependencies, parts, edit));
    await app.register(deletionRoutes(dependencies, parts, edit));
    await app.register(passwordRoutes(dependencies, parts, edit));
    await app.register(memberRoutes(dependencies, edit));
    await app.register(invitationRoutes(dependencies, parts, edit));
    await app.register(acceptanceRoutes(dependencies, parts, edit));
    await app.register(accountProjectRoutes(dependencies, parts));
  };
