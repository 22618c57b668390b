/** Webhooks of benchmarks, as the server stores them. */
import type { SecretCipher } from '../pipeline/encryption.js';
import { deriveId } from '../schemas/ids.js';
import type { WebhookRecord } from '../schemas/json/webhook.js';

/** What distinguishes one webhook of a benchmark from another. */
type WebhookFields = Pick<WebhookRecord, 'project' | 'url'> &
  Partial<Pick<WebhookRecord, 'createdAt' | 'tags'>> & {
    /** Other webhooks have other names. */
    readonly name: string;
    /** Fills the secret. Its lowest byte counts. */
    readonly secretByte: number;
  };

/** Returns an enabled webhook of the test environment: for all events, or those of `tags`. */
export function benchWebhook(
  secretCipher: SecretCipher,
  { name, secretByte, project, url, createdAt = 1, tags = null }: WebhookFields,
): WebhookRecord {
  const _id = deriveId('bench webhook', name);
  const sealed = secretCipher.encrypt(`whsec_${Buffer.alloc(32, secretByte).toString('base64')}`, _id);
  return {
    _id,
    project,
    environment: 'test',
    createdAt,
    updatedAt: createdAt,
    url,
    description: null,
    types: null,
    tags,
    delivery: 'single',
    enabled: true,
    disabled: null,
    secrets: [{ _id: deriveId('secret', _id), sealed, hint: 'whsec_…', createdAt: 1, expiresAt: null }],
  };
}
