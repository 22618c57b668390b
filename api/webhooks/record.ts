/** From what an owner says of a webhook to the record that is kept. */
import type { Scope } from '../../pipeline/catalog/types.js';
import type { SecretCipher } from '../../pipeline/encryption.js';
import { freshId } from '../../schemas/ids.js';
import type { WebhookRecord } from '../../schemas/json/webhook.js';
import type { IssuedSecret } from '../../schemas/wire/webhook.js';
import type { WebhookInput } from './input.js';
import { newSecret } from './secrets.js';

/** A new webhook and its first secret. `nowMs` is a time that no other record of this node has. */
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

/** The webhook as its owner describes it now. */
export const changedWebhook = (record: WebhookRecord, input: WebhookInput, nowMs: number): WebhookRecord => ({
  ...record,
  ...input,
  updatedAt: nowMs,
  disabled: disabledAfter(input, record.disabled, nowMs),
});

/** Why it is disabled stays until it is enabled. */
const disabledAfter = (
  { enabled }: WebhookInput,
  before: WebhookRecord['disabled'],
  nowMs: number,
): WebhookRecord['disabled'] => (enabled ? null : (before ?? { reason: 'owner', at: nowMs }));
