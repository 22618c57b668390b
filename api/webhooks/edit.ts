/** Edits of webhooks on this node: those of one project run one after the other, for each reads a record, changes it and writes it whole. */
import type { FastifyRequest } from 'fastify';
import { callerOf } from '../../http/authority.js';
import type { WebhookRecord } from '../../schemas/json/webhook.js';
import type { ApiDeps } from '../deps.js';
import { found } from '../describe.js';
import type { Serialize } from '../serialize.js';

export type ById = { Params: { id: string } };

/** The webhook that the path names, of the caller's project and environment, or 404. */
export const webhookOf = ({ configuration }: Pick<ApiDeps, 'configuration'>, request: FastifyRequest<ById>): WebhookRecord =>
  found(configuration.webhook(callerOf(request), request.params.id), 'webhook');

/** Changes the webhook that the path names. `nowMs` is a time that no other record of this node has. */
export type EditWebhook = (
  request: FastifyRequest<ById>,
  change: (record: WebhookRecord, nowMs: number) => WebhookRecord,
) => Promise<WebhookRecord>;

export const createEditor =
  (deps: Pick<ApiDeps, 'configuration' | 'writer'>, serializeByProject: Serialize): EditWebhook =>
  (request, change) =>
    serializeByProject(callerOf(request).project, async () => {
      const record = change(webhookOf(deps, request), deps.writer.nextTimestamp());
      await deps.writer.write([{ kind: 'webhook', id: record._id, record }]);
      return record;
    });
