/** The routes of webhooks. Their secrets and deliveries have files of their own. */
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import { answerOf, type ById, bodyFields, described, idParameter, listOf, success } from '../../http/describe.js';
import { accepted, type RawFields } from '../../http/fields/reader.js';
import { schemaOf } from '../../http/fields/table.js';
import { type Networks, networksOf } from '../../outbound/addresses.js';
import { ApiError } from '../../schemas/errors.js';
import { Webhook, type WebhookRecord } from '../../schemas/json/webhook.js';
import { type IssuedSecret, webhookJson } from '../../schemas/wire/webhook.js';
import type { ApiDependencies } from '../dependencies.js';
import { type Edit, sendRevision } from '../edits.js';
import { listPaging, readShortListQuery, shortListParameters, shortPage } from '../lists.js';
import { readWebhook, webhookFields } from './fields.js';
import { changedWebhook, createWebhookEditor, newWebhook, webhookOf } from './records.js';

const tag = 'webhooks';
const config = { authority: 'secret', limit: 'management' } as const;
const one = answerOf({ webhook: Webhook });

/** Returns the answer. `issued` is the new secret, the only one in plain text. */
export const webhookAnswer = (record: WebhookRecord, issued?: IssuedSecret) => ({
  meta: success,
  webhook: webhookJson(record, issued),
});

/** Adds the route that creates a webhook. */
function addCreatingRoute(
  app: FastifyInstance,
  { configuration, webhooks: { secretCipher, maxWebhooks } }: ApiDependencies,
  edit: Edit,
  allowedNetworks: Networks,
): void {
  app.post('/v1/webhooks', {
    config,
    schema: described({
      operationId: 'createWebhook',
      tag,
      summary: 'Create a webhook',
      description: 'The answer contains the signing secret in plain text. It is shown only once.',
      body: schemaOf(webhookFields(allowedNetworks)),
      answer: one,
      failures: [409],
      entityTag: 'matched and answered',
    }),
    handler: async (request, reply) => {
      const scope = callerOf(request);
      const input = accepted(readWebhook(undefined, bodyFields(request.body), allowedNetworks));
      const { record, issued } = await edit({ request, reply }, `webhooks of ${scope.project}`, (nowMs) => {
        if (configuration.webhooks(scope).length >= maxWebhooks) {
          throw new ApiError('conflict', `this environment has reached its limit of ${maxWebhooks} webhooks`);
        }
        const result = newWebhook(scope, input, secretCipher, nowMs);
        return { kind: 'webhook', id: result.record._id, record: result.record, isExisting: false, result };
      });
      return webhookAnswer(record, issued);
    },
  });
}

/** Adds the routes that list and get webhooks. */
function addReadingRoutes(app: FastifyInstance, configuration: ApiDependencies['configuration']): void {
  app.get('/v1/webhooks', {
    config,
    schema: described({
      operationId: 'listWebhooks',
      tag,
      summary: 'List webhooks, newest first',
      description: listPaging,
      querystring: shortListParameters,
      answer: listOf({ webhooks: Type.Array(Webhook) }, { cursor: true }),
    }),
    handler: async (request) => {
      const query = accepted(readShortListQuery(request.query as RawFields));
      const { meta, rows } = shortPage(configuration.webhooks(callerOf(request)), query);
      return { meta, webhooks: rows.map((record) => webhookJson(record)) };
    },
  });

  app.get<ById>('/v1/webhooks/:id', {
    config,
    schema: described({
      operationId: 'getWebhook',
      tag,
      summary: 'Get a webhook',
      params: idParameter,
      answer: one,
      failures: [404],
      entityTag: 'answered',
    }),
    handler: async (request, reply) => {
      const record = webhookOf({ configuration }, request);
      sendRevision(reply, configuration.revisionOf('webhook', record._id));
      return webhookAnswer(record);
    },
  });
}

/** Adds the routes that change and delete a webhook. */
function addChangingRoutes(
  app: FastifyInstance,
  dependencies: ApiDependencies,
  edit: Edit,
  allowedNetworks: Networks,
): void {
  const editWebhook = createWebhookEditor(dependencies, edit);

  const change = async (request: FastifyRequest<ById>, reply: FastifyReply) => {
    const given = bodyFields(request.body);
    const record = await editWebhook({ request, reply }, (current, nowMs) =>
      changedWebhook(current, accepted(readWebhook(current, given, allowedNetworks)), nowMs),
    );
    return webhookAnswer(record);
  };

  /** PUT and PATCH are one operation under two names. */
  const changing = {
    tag,
    description:
      'Fields that are left out stay; null puts a field back to its default. Waiting deliveries go to the new URL.',
    params: idParameter,
    body: schemaOf(webhookFields(allowedNetworks), { allOptional: true }),
    answer: one,
    failures: [404, 409],
    entityTag: 'matched and answered',
  } as const;

  app.put<ById>('/v1/webhooks/:id', {
    config,
    schema: described({
      operationId: 'changeWebhook',
      summary: 'Change a webhook',
      ...changing,
    }),
    handler: change,
  });

  app.patch<ById>('/v1/webhooks/:id', {
    config,
    schema: described({
      operationId: 'patchWebhook',
      summary: 'Change fields of a webhook',
      ...changing,
    }),
    handler: change,
  });

  app.delete<ById>('/v1/webhooks/:id', {
    config,
    schema: described({
      operationId: 'deleteWebhook',
      tag,
      summary: 'Delete a webhook',
      description: 'Its waiting deliveries are dropped.',
      params: idParameter,
      answer: answerOf(),
      failures: [404, 409],
      entityTag: 'matched',
    }),
    handler: async (request, reply) => {
      const { id } = request.params;
      await edit({ request, reply }, `webhook/${id}`, () => {
        const { _id } = webhookOf(dependencies, request);
        return { kind: 'webhook', id: _id, record: null, isExisting: true, result: null };
      });
      return { meta: success };
    },
  });
}

/** Serves /v1/webhooks. Refuses URLs of networks that are not allowed, and with 409 one webhook more than the limit. */
export const webhookRoutes =
  (dependencies: ApiDependencies, edit: Edit): FastifyPluginAsync =>
  async (app) => {
    const allowedNetworks = networksOf(dependencies.webhooks.allowedNetworks);
    addCreatingRoute(app, dependencies, edit, allowedNetworks);
    addReadingRoutes(app, dependencies.configuration);
    addChangingRoutes(app, dependencies, edit, allowedNetworks);
  };
