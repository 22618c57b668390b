/** Valid webhooks for tests; fields of interest can be overridden. */
import { deriveId } from '../../../../schemas/ids.js';
import type { WebhookRecord, WebhookSecretRecord } from '../../../../schemas/json/webhook.js';
import { scope } from '../../../catalog/testing/fixtures.js';
import { createSecretCipher, encryptionKeyBytes } from '../../../encryption.js';

/** The cipher of signing secrets, with a fixed key. */
export const secretCipher = createSecretCipher(Buffer.alloc(encryptionKeyBytes, 7));

/** Returns the text of the n-th secret. */
export const secretText = (number: number): string => `whsec_${Buffer.alloc(24, number).toString('base64')}`;

/** Returns the secret of a webhook with this number, encrypted. */
export const secretRecord = (
  webhook: string,
  number: number,
  fields: Partial<WebhookSecretRecord> = {},
): WebhookSecretRecord => ({
  _id: deriveId('secret', String(number)),
  sealed: secretCipher.encrypt(secretText(number), webhook),
  hint: 'whsec_…',
  createdAt: number,
  expiresAt: null,
  ...fields,
});

/** Returns the id of the webhook with this number. */
export const webhookId = (number: number): string => deriveId('webhook', String(number));

/** Returns an enabled webhook for all events, with the fields changed. */
export function webhookRecord(fields: Partial<WebhookRecord> = {}): WebhookRecord {
  const _id = fields._id ?? webhookId(0);
  return {
    _id,
    ...scope,
    createdAt: 1_000,
    updatedAt: 1_000,
    url: 'http://127.0.0.1:1/hook',
    description: null,
    types: null,
    tags: null,
    delivery: 'single',
    enabled: true,
    disabled: null,
    secrets: [secretRecord(_id, 1)],
    ...fields,
  };
}
