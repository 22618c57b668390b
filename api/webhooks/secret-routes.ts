/** The routes of a webhook's secrets: rotation and removal. */
import type { FastifyPluginAsync } from 'fastify';
import Type from 'typebox';
import { answerOf, type ById, bodyFields, described, found, idParameter } from '../../http/describe.js';
import { accepted } from '../../http/fields/reader.js';
import { ApiError } from '../../schemas/errors.js';
import { Id } from '../../schemas/json/common.js';
import {
  maxWebhookSecrets,
  Webhook,
  type WebhookRecord,
  type WebhookSecretRecord,
} from '../../schemas/json/webhook.js';
import type { ApiDependencies } from '../dependencies.js';
import type { Edit } from '../edits.js';
import { RotationBody, readOverlapHours } from './fields.js';
import { createWebhookEditor } from './records.js';
import { webhookAnswer } from './routes.js';
import { newSecret, rotate } from './secrets.js';

const tag = 'webhooks';
const config = { authority: 'secret', limit: 'management' } as const;
const one = answerOf({ webhook: Webhook });

/** Removes a secret. The newest is kept: it signs until it is replaced. */
function withoutSecret(record: WebhookRecord, id: string): WebhookRecord['secrets'] {
  const secret = found(
    record.secrets.find(({ _id }) => _id === id),
    'secret',
  );
  if (secret === record.secrets[0]) {
    throw new ApiError(
      'conflict',
      "the newest secret can't be removed; rotate with overlapHours 0 to replace it at once",
    );
  }
  return record.secrets.filter((other) => other !== secret);
}

/** Adds a secret. Refuses to end another one early, because its receivers would refuse requests. */
function withSecret(
  record: WebhookRecord,
  newest: WebhookSecretRecord,
  overlapHours: number,
  nowMs: number,
): WebhookRecord['secrets'] {
  const secrets = rotate(record.secrets, newest, overlapHours, nowMs);
  if (secrets.length <= maxWebhookSecrets) return secrets;
  throw new ApiError(
    'conflict',
    `${maxWebhookSecrets} secrets sign already; remove an old one, or rotate with overlapHours 0 to end all of them`,
  );
}

/** Serves the rotation and the removal of a webhook's signing secrets. */
export const secretRoutes =
  (dependencies: ApiDependencies, edit: Edit): FastifyPluginAsync =>
  async (app) => {
    const editWebhook = createWebhookEditor(dependencies, edit);

    app.post<ById>('/v1/webhooks/:id/secrets', {
      config,
      schema: described({
        operationId: 'rotateWebhookSecret',
        tag,
        summary: 'Rotate the signing secret',
        description:
          'The answer contains it in plain text, first in `secrets`. It is shown only once. Earlier secrets sign as ' +
          'well until `expiresAt`. A rotation after which more than five would sign is refused with 409.',
        params: idParameter,
        body: RotationBody,
        answer: one,
        failures: [404, 409],
        entityTag: 'matched and answered',
      }),
      handler: async (request, reply) => {
        const overlapHours = accepted(readOverlapHours(bodyFields(request.body)));
        const issued = newSecret(
          request.params.id,
          dependencies.webhooks.secretCipher,
          dependencies.writer.nextTimestamp(),
        );
        const record = await editWebhook({ request, reply }, (current, nowMs) => ({
          ...current,
          updatedAt: nowMs,
          secrets: withSecret(current, issued.record, overlapHours, nowMs),
        }));
        return webhookAnswer(record, issued);
      },
    });

    app.delete<{ Params: { id: string; secretId: string } }>('/v1/webhooks/:id/secrets/:secretId', {
      config,
      schema: described({
        operationId: 'deleteWebhookSecret',
        tag,
        summary: 'Remove a signing secret that has been replaced',
        params: Type.Object({ id: Id, secretId: Id }),
        answer: one,
        failures: [404, 409],
        entityTag: 'matched and answered',
      }),
      handler: async (request, reply) => {
        const record = await editWebhook({ request, reply }, (current, nowMs) => ({
          ...current,
          updatedAt: nowMs,
          secrets: withoutSecret(current, request.params.secretId),
        }));
        return webhookAnswer(record);
      },
    });
  };
