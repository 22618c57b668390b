/**
 * Serves PUT /v1/events/:id/verification, which mobile SDKs call with a publishable key. The verdict is validated and
 * not stored. A publishable key is public, so these lookups have their own concurrency limit and never delay other
 * queries.
 */
import { setTimeout } from 'node:timers/promises';
import type { FastifyPluginAsync } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import { leavingOf } from '../../http/access/revocation.js';
import {
  answerOf,
  type ById,
  bodyFields,
  described,
  found,
  idParameter,
  requireEventId,
  success,
} from '../../http/describe.js';
import { accepted, FieldReader, type Outcome, type RawFields } from '../../http/fields/reader.js';
import type { Scope } from '../../pipeline/catalog/types.js';
import { createFairLimit } from '../../pipeline/fair-limit.js';
import type { Analytics } from '../../pipeline/ports.js';
import type { ApiDependencies } from '../dependencies.js';
import { boundedReads } from '../history.js';
import { where } from '../sql.js';

const maxWaitingPerProject = 16;
const retryAfterS = 1;
/** SDKs verify events at once, but events reach the analytics store about a second after the reply: retry. */
const retryDelaysMs = [0, 1_000, 2_000];

/** The SDK for Android writes verdicts by name. */
const namedVerdicts: ReadonlyMap<unknown, number> = new Map([
  ['ACCEPT', 1],
  ['UNVERIFY', 0],
  ['REJECT', -1],
]);

function readVerdict(fields: RawFields): Outcome<number> {
  const reader = new FieldReader(fields);
  const named = namedVerdicts.get(reader.value('verification'));
  const verdict = named ?? reader.integer('verification', { minimum: -1, maximum: 1 });
  if (verdict === null) reader.refuse('verification', 'is required');
  return reader.outcome(() => verdict as number);
}

async function isStored(analytics: Pick<Analytics, 'query'>, scope: Scope, id: string): Promise<boolean> {
  const { sql, parameters } = where(scope, [['id = {text}', id]]);
  return (await analytics.query(`SELECT 1 AS found FROM events WHERE ${sql} LIMIT 1`, parameters)).length > 0;
}

/**
 * Serves PUT /v1/events/{id}/verification. Looks an unknown event up again for a while, since SDKs verify sooner than
 * the analytics store has it.
 */
export const verificationRoutes =
  ({ analytics }: Pick<ApiDependencies, 'analytics'>): FastifyPluginAsync =>
  async (app) => {
    const inTurn = createFairLimit({
      maxRunning: 1,
      maxWaitingPerProject,
      refusal: 'too many verifications of this project are waiting',
      retryAfterS,
    });

    async function isKnown(scope: Scope, id: string, signal: AbortSignal): Promise<boolean> {
      const reads = boundedReads(analytics, { signal });
      for (const delayMs of retryDelaysMs) {
        if (delayMs > 0) await setTimeout(delayMs);
        if (await inTurn(scope.project, () => isStored(reads, scope, id), signal)) return true;
      }
      return false;
    }

    app.put<ById>('/v1/events/:id/verification', {
      config: { authority: 'publishable', limit: 'query' },
      schema: described({
        operationId: 'verifyEvent',
        tag: 'sdk',
        summary: 'Validate a verdict on an event, which is not stored',
        params: idParameter,
        body: Type.Object({
          verification: Type.Integer({ minimum: -1, maximum: 1, description: '1 accept, -1 reject, 0 neither' }),
          verifiedPlaceId: Type.Optional(Type.String({ description: 'Ignored: verdicts are not stored' })),
        }),
        answer: answerOf(),
        failures: [404],
      }),
      handler: async (request, reply) => {
        const { id } = request.params;
        requireEventId(request.params);
        accepted(readVerdict(bodyFields(request.body)));
        found((await isKnown(callerOf(request), id, leavingOf(reply))) || undefined, 'event');
        return { meta: success };
      },
    });
  };
