/** The route that deletes the account of a session. */
import type { FastifyPluginAsync } from 'fastify';
import { sessionOf } from '../../http/access/authority.js';
import { answerOf, described, found, success } from '../../http/describe.js';
import { schemaOf } from '../../http/fields/table.js';
import type { ApiDependencies } from '../dependencies.js';
import type { Edit } from '../edits.js';
import { withoutAccount } from './accounts.js';
import type { AccountParts } from './dependencies.js';
import { withoutRevision, wrongPasswordAt } from './edits.js';
import { passwordField, readBody } from './fields.js';
import { createLimits } from './limits.js';
import { accountOf } from './session.js';

const fields = { password: passwordField } as const;

/**
 * Serves POST /v1/account/delete. The password is asked again; the answer is 409 while a project with other members
 * would lose its only owner.
 */
export const deletionRoutes =
  (
    { configuration, writer }: Pick<ApiDependencies, 'configuration' | 'writer'>,
    parts: AccountParts,
    edit: Edit,
  ): FastifyPluginAsync =>
  async (app) => {
    const { sessions, passwords } = parts;
    const limits = createLimits(parts);

    app.post('/v1/account/delete', {
      config: { authority: 'session', limit: 'none', isRepeatable: true },
      schema: described({
        operationId: 'deleteAccount',
        tag: 'accounts',
        summary: 'Delete the account',
        description:
          'Removes the account from all projects, deletes it with its address, and ends its sessions. Projects stay. ' +
          'Refused while the account is the only owner of a project with other members.',
        body: schemaOf(fields),
        answer: answerOf(),
        failures: [409],
      }),
      handler: async (request, reply) => {
        const { password } = readBody(request, fields);
        const account = accountOf(sessionOf(request));
        await limits.signIn(request, account.email);
        if (!(await passwords.verify(password, account.passwordHash))) throw wrongPasswordAt('password');
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
