/** Edits of webhooks: each reads a record, changes it and writes it whole. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from '../../http/access/authority.js';
import type { WebhookRecord } from '../../schemas/json/webhook.js';
import type { ApiDependencies } from '../dependencies.js';
import { found } from '../describe.js';
import type { Edit } from '../edits.js';

export type ById = { Params: { id: string } };

/** The webhook that the path names, of the caller's project and environment, or 404. */
export const webhookOf = (
  { configuration }: Pick<ApiDependencies, 'configuration'>,
  request: FastifyRequest<ById>,
): WebhookRecord => found(configuration.webhook(callerOf(request), request.params.id), 'webhook');

/** Changes the webhook that the path names. `nowMs` is a time that no other record of this node has. */
export type EditWebhook = (
  http: { readonly request: FastifyRequest<ById>; readonly reply: FastifyReply },
  change: (record: WebhookRecord, nowMs: number) => WebhookRecord,
) => Promise<WebhookRecord>;

export const createWebhookEditor =
  (deps: Pick<ApiDependencies, 'configuration'>, edit: Edit): EditWebhook =>
  ({ request, reply }, change) =>
    edit({ request, reply }, `webhook/${request.params.id}`, (nowMs) => {
      const record = change(webhookOf(deps, request), nowMs);
      return { kind: 'webhook', id: record._id, record, isExisting: true, result: record };
    });
