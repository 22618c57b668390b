/** What a node logs at its start about secrets of another encryption key. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { projectRecord, scope } from '../../pipeline/catalog/testing/fixtures.js';
import { createSecretCipher, encryptionKeyBytes } from '../../pipeline/encryption.js';
import { secretRecord, webhookId, webhookRecord } from '../../pipeline/stages/webhooks/testing/webhooks.js';
import type { SyncRecord } from '../../schemas/json/sync.js';
import type { WebhookRecord } from '../../schemas/json/webhook.js';
import { reportUnreadableSecrets } from './unreadable-secrets.js';

const [own, other] = [1, 2].map(() => createSecretCipher(randomBytes(encryptionKeyBytes))) as [Cipher, Cipher];
type Cipher = ReturnType<typeof createSecretCipher>;

const webhook = (number: number, ...ciphers: Cipher[]): WebhookRecord => {
  const _id = webhookId(number);
  return webhookRecord({
    _id,
    secrets: ciphers.map((cipher, index) => secretRecord(_id, index, { sealed: cipher.encrypt('whsec_', _id) })),
  });
};
const sync = (_id: string, cipher: Cipher | null) =>
  ({ _id, sealedCredentials: cipher === null ? null : cipher.encrypt('{}', _id) }) as SyncRecord;

function reported(webhooks: WebhookRecord[], syncs: SyncRecord[]): unknown[] {
  const lines: unknown[] = [];
  reportUnreadableSecrets({
    readModel: {
      projects: () => [projectRecord({ _id: scope.project })],
      webhooks: ({ environment }) => (environment === scope.environment ? webhooks : []),
      syncs: () => syncs,
    },
    secretCipher: own,
    logger: { error: (counts: object) => void lines.push(counts) },
  });
  return lines;
}

test('webhooks whose newest secret is of another key are counted, and syncs with such credentials', () => {
  const webhooks = [webhook(1, own), webhook(2, other), webhook(3, own, other), webhook(4, other, own)];
  const syncs = [sync('a', own), sync('b', null), sync('c', other)];
  expect(reported(webhooks, syncs)).toEqual([{ webhooks: 2, syncs: 1 }]);
});

test('nothing is logged while all of them can be decrypted', () => {
  expect(reported([webhook(1, own), webhook(2, own, other)], [sync('a', own), sync('b', null)])).toEqual([]);
});
