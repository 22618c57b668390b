/** Serves users: list and look up. */
import type { FastifyPluginAsync } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import { accepted, type RawFields } from '../../http/fields/reader.js';
import { User } from '../../schemas/json/user.js';
import type { ApiDependencies } from '../dependencies.js';
import { answerOf, described, found, listOf, success } from '../describe.js';
import { cursorParameter, limitParameter, timeParameters } from '../lists.js';
import { findUser, listUsers, readUserQuery } from './users.js';

const tag = 'users';
const config = { authority: 'secret', limit: 'management' } as const;

/** Query parameters of a list of users, for the API description. */
export const userParameters = Type.Object({
  ...limitParameter,
  ...cursorParameter,
  ...timeParameters('updatedBefore', 'updatedAfter'),
});

export const userRoutes =
  (deps: ApiDependencies): FastifyPluginAsync =>
  async (app) => {
    app.get('/v1/users', {
      config,
      schema: described({
        operationId: 'listUsers',
        tag,
        summary: 'List users, last updated first',
        querystring: userParameters,
        answer: listOf({ users: Type.Array(User) }, { cursor: true }),
        failures: [400],
      }),
      handler: async (request) =>
        listUsers(deps, callerOf(request), accepted(readUserQuery(request.query as RawFields))),
    });

    app.get<{ Params: { id: string } }>('/v1/users/:id', {
      config,
      schema: described({
        operationId: 'getUser',
        tag,
        summary: 'Get a user',
        description: 'Of several users with the same userId or deviceId returns the last updated one.',
        params: Type.Object({ id: Type.String({ description: '`_id`, `userId` or `deviceId`' }) }),
        answer: answerOf({ user: User }),
        failures: [404],
      }),
      handler: async (request) => {
        const user = await findUser(deps, callerOf(request), request.params.id);
        return { meta: success, user: found(user, 'user') };
      },
    });
  };
