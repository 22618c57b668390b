/** The route by which people create further projects. */
import type { FastifyPluginAsync } from 'fastify';
import { sessionOf } from '../../http/access/authority.js';
import { ownedProjects, type Session } from '../../http/access/session-store.js';
import { answerOf, described, success } from '../../http/describe.js';
import { required, schemaOf, textField } from '../../http/fields/table.js';
import { ApiError } from '../../schemas/errors.js';
import { Session as SessionJson } from '../../schemas/json/account.js';
import { Project } from '../../schemas/json/project.js';
import type { ApiDependencies } from '../dependencies.js';
import { maxProjectNameLength, newProject } from '../projects/projects.js';
import { projectJson } from '../projects/routes.js';
import { createSerializer } from '../serialize.js';
import { memberOf } from './accounts.js';
import type { AccountParts } from './dependencies.js';
import { readBody } from './fields.js';
import { createLimits } from './limits.js';
import { accountOf, sessionJson } from './session.js';

/** Bounds what an account may keep. */
export const maxOwnedProjects = 20;
/** Creations of an account that run or wait. */
const maxUnfinishedCreations = 100;

const fields = { name: required(textField({ maxLength: maxProjectNameLength })) } as const;

/**
 * Serves POST /v1/account/projects, which creates a project of the session's account. Answers 403 to an account without
 * projects while sign-up is off, and 409 beyond the limit of projects.
 */
export const accountProjectRoutes =
  (
    { configuration, writer }: Pick<ApiDependencies, 'configuration' | 'writer'>,
    parts: AccountParts,
  ): FastifyPluginAsync =>
  async (app) => {
    const { signUp } = parts;
    const limits = createLimits(parts);
    const serialize = createSerializer(maxUnfinishedCreations);

    /** Throws unless the account may have one more project. */
    function admit(session: Session): void {
      const owned = ownedProjects(session, configuration).length;
      if (owned === 0 && signUp === 'off')
        throw new ApiError('forbidden', 'while sign-up is off, only an owner of a project may create another');
      if (owned >= maxOwnedProjects)
        throw new ApiError('conflict', `an account owns at most ${maxOwnedProjects} projects`);
    }

    app.post('/v1/account/projects', {
      config: { authority: 'session', limit: 'none' },
      schema: described({
        operationId: 'createOwnProject',
        tag: 'accounts',
        summary: 'Create a further project',
        description:
          'The account becomes its owner. The answer contains the four keys in plain text, which are shown once. ' +
          `While sign-up is off, only owners of a project may. An account owns at most ${maxOwnedProjects} projects.`,
        body: schemaOf(fields),
        answer: answerOf({ project: Project, session: SessionJson }),
        failures: [409],
      }),
      handler: async (request) => {
        const { name } = readBody(request, fields);
        const session = sessionOf(request);
        const account = accountOf(session);
        // One at a time on this node, so that concurrent requests do not all see the same number.
        return serialize(account._id, async () => {
          await writer.catchUp();
          admit(session);
          // A project that was deleted leaves erasures, which are repeated for weeks.
          await limits.createProject(account._id);
          const nowMs = writer.nextTimestamp();
          const made = newProject({ name }, nowMs);
          const project = { ...made.project, members: [memberOf(account, 'owner', nowMs)] };
          await writer.write([{ kind: 'project', id: project._id, record: project, bases: ['absent'] }]);
          return {
            meta: success,
            project: projectJson(project, made.keys),
            session: sessionJson(session, configuration),
          };
        });
      },
    });
  };
