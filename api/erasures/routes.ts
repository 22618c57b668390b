/**
 * Erases users and events. A request is accepted at once, and its erasure runs in the background
 * (`pipeline/stages/erasure`).
 */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import {
  answerOf,
  type ById,
  described,
  found,
  idParameter,
  listOf,
  requireEventId,
  success,
} from '../../http/describe.js';
import { accepted, type RawFields } from '../../http/fields/reader.js';
import { maxIdCharacters } from '../../http/location/request.js';
import type { SecretCipher } from '../../pipeline/encryption.js';
import { hasFailed } from '../../pipeline/records/erased-name.js';
import { ApiError, parameterError } from '../../schemas/errors.js';
import { freshId } from '../../schemas/ids.js';
import { Erasure, type ErasureRecord, type ErasureSubject } from '../../schemas/json/erasure.js';
import { isoTime } from '../../schemas/wire/common.js';
import type { ApiDependencies } from '../dependencies.js';
import { catchUpWithAuthority } from '../edits.js';
import { listPaging, readShortListQuery, shortListParameters, shortPage } from '../lists.js';

const tag = 'erasures';
const config = { authority: 'secret', limit: 'management' } as const;
const one = answerOf({ erasure: Erasure });
/** Of one project and environment. They are kept until topics have forgotten what was erased. */
const maxErasures = 10_000;
const accepting =
  'The answer 202 accepts the erasure of everything that was received until now, including what is not known yet; ' +
  '`GET /v1/erasures/:id` says when it is done, or that it has failed because the encryption key was lost. ' +
  'Repeating it does no harm. ';

/** An erasure that somebody asked for; that of a project is made with its deletion. */
type AskedErasure = ErasureRecord & { readonly subject: ErasureSubject };
const isAsked = (record: ErasureRecord): record is AskedErasure => record.subject !== 'project';

function erasureJson(record: AskedErasure, cipher: SecretCipher): Static<typeof Erasure> {
  const { _id, subject, createdAt, completedAt } = record;
  const ifRunning = hasFailed(record, cipher) ? 'failed' : 'running';
  return {
    _id,
    subject,
    status: completedAt === null ? ifRunning : 'done',
    createdAt: isoTime(createdAt),
    ...(completedAt !== null && { completedAt: isoTime(completedAt) }),
  };
}

/**
 * Serves the erasure of users and events. Answers 202; 429 while a project has the most erasures that are kept;
 * `not_available` where the analytics store cannot erase.
 */
export const erasureRoutes =
  ({ configuration, writer, clock, erasesNothing, webhooks: { secretCipher } }: ApiDependencies): FastifyPluginAsync =>
  async (app) => {
    async function accept(request: FastifyRequest<ById>, reply: FastifyReply, subject: ErasureSubject) {
      if (erasesNothing !== undefined) throw new ApiError('not_available', erasesNothing);
      const { project, environment } = callerOf(request);
      if (configuration.erasures({ project, environment }).length >= maxErasures)
        throw new ApiError('rate_limited', `at most ${maxErasures} erasures are kept at a time`, {
          retryAfterS: 3_600,
        });
      const { id } = request.params;
      // Nothing has a longer name, and a longer one does not fit into the key of a device.
      if (id.length > maxIdCharacters)
        throw parameterError({ param: 'id', rule: `must be text of at most ${maxIdCharacters} characters` });
      if (subject === 'event') requireEventId(request.params);
      await catchUpWithAuthority({ writer, confirmAuthority: request.confirmAuthority });
      // Not the writer's time, which is later than records of a clock that was ahead: this is a time of receipt.
      const createdAt = clock();
      const _id = freshId(createdAt);
      const target = secretCipher.encrypt(id, _id);
      const record = { _id, project, environment, createdAt, updatedAt: createdAt, subject, target, completedAt: null };
      await writer.write([{ kind: 'erasure', id: _id, record, bases: ['absent'] }]);
      reply.code(202);
      return { meta: { code: 202 }, erasure: erasureJson(record, secretCipher) };
    }

    app.delete<ById>('/v1/users/:id', {
      config,
      schema: described({
        operationId: 'eraseUser',
        tag,
        summary: 'Erase a user',
        description: `${accepting}A \`deviceId\` erases all its users, a \`userId\` the user on every device.`,
        params: Type.Object({ id: Type.String({ description: '`_id`, `userId` or `deviceId`' }) }),
        status: 202,
        answer: one,
      }),
      handler: async (request, reply) => accept(request, reply, 'user'),
    });

    app.delete<ById>('/v1/events/:id', {
      config,
      schema: described({
        operationId: 'eraseEvent',
        tag,
        summary: 'Erase an event',
        description: `${accepting}Pending deliveries that contain the event are not sent.`,
        params: idParameter,
        status: 202,
        answer: one,
      }),
      handler: async (request, reply) => accept(request, reply, 'event'),
    });

    app.get('/v1/erasures', {
      config,
      schema: described({
        operationId: 'listErasures',
        tag,
        summary: 'List erasures, newest first',
        description: listPaging,
        querystring: shortListParameters,
        answer: listOf({ erasures: Type.Array(Erasure) }, { cursor: true }),
      }),
      handler: async (request) => {
        const query = accepted(readShortListQuery(request.query as RawFields));
        const { rows, meta } = shortPage(configuration.erasures(callerOf(request)).filter(isAsked), query);
        return { meta, erasures: rows.map((record) => erasureJson(record, secretCipher)) };
      },
    });

    app.get<ById>('/v1/erasures/:id', {
      config,
      schema: described({
        operationId: 'getErasure',
        tag,
        summary: 'Get an erasure',
        params: idParameter,
        answer: one,
        failures: [404],
      }),
      handler: async (request) => {
        const record = configuration.erasure(callerOf(request), request.params.id);
        return {
          meta: success,
          erasure: erasureJson(found(record && isAsked(record) ? record : undefined, 'erasure'), secretCipher),
        };
      },
    });
  };
