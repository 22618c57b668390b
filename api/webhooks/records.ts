/** The records of webhooks: how they are found, made and edited. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from '../../http/access/authority.js';
import { type ById, found } from '../../http/describe.js';
import type { Scope } from '../../pipeline/catalog/types.js';
import type { SecretCipher } from '../../pipeline/encryption.js';
import { freshId } from '../../schemas/ids.js';
import type { WebhookRecord } from '../../schemas/json/webhook.js';
import type { IssuedSecret } from '../../schemas/wire/webhook.js';
import type { ApiDependencies } from '../dependencies.js';
import type { Edit } from '../edits.js';
import type { WebhookInput } from './fields.js';
import { newSecret } from './secrets.js';

/** Makes a new webhook and its first secret. `nowMs` is a time that no other record of this node has. */
export function newWebhook(
  { project, environment }: Scope,
  input: WebhookInput,
  secretCipher: SecretCipher,
  nowMs: number,
): { readonly record: WebhookRecord; readonly issued: IssuedSecret } {
  const _id = freshId(nowMs);
  const issued = newSecret(_id, secretCipher, nowMs);
  const times = { createdAt: nowMs, updatedAt: nowMs };
  const disabled = disabledAfter(input, null, nowMs);
  return { record: { _id, project, environment, ...times, ...input, disabled, secrets: [issued.record] }, issued };
}

/** Returns the webhook with the owner's changes. */
export const changedWebhook = (record: WebhookRecord, input: WebhookInput, nowMs: number): WebhookRecord => ({
  ...record,
  ...input,
  updatedAt: nowMs,
  disabled: disabledAfter(input, record.disabled, nowMs),
});

/** Returns why the webhook is disabled. The reason stays until the webhook is enabled. */
const disabledAfter = (
  { enabled }: WebhookInput,
  before: WebhookRecord['disabled'],
  nowMs: number,
): WebhookRecord['disabled'] => (enabled ? null : (before ?? { reason: 'owner', at: nowMs }));

/** Returns the webhook that the path names, of the caller's project and environment, or throws 404. */
export const webhookOf = (
  { configuration }: Pick<ApiDependencies, 'configuration'>,
  request: FastifyRequest<ById>,
): WebhookRecord => found(configuration.webhook(callerOf(request), request.params.id), 'webhook');

/** Changes the webhook that the path names. `nowMs` is a time that no other record of this node has. */
type EditWebhook = (
  http: { readonly request: FastifyRequest<ById>; readonly reply: FastifyReply },
  change: (record: WebhookRecord, nowMs: number) => WebhookRecord,
) => Promise<WebhookRecord>;

/** Creates the edit of the webhook that a request names. Throws `not_found` for one of another scope. */
export const createWebhookEditor =
  (dependencies: Pick<ApiDependencies, 'configuration'>, edit: Edit): EditWebhook =>
  ({ request, reply }, change) =>
    edit({ request, reply }, `webhook/${request.params.id}`, (nowMs) => {
      const record = change(webhookOf(dependencies, request), nowMs);
      return { kind: 'webhook', id: record._id, record, isExisting: true, result: record };
    });
