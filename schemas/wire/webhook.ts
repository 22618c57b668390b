/** Converts webhooks and delivery attempts from stored records to the API's JSON. */
import type {
  Attempt as AttemptJson,
  WaitingDelivery,
  Webhook,
  WebhookRecord,
  WebhookSecret,
  WebhookSecretRecord,
} from '../json/webhook.js';
import type { Attempt, Delivery } from '../records.js';
import { isoTime, withoutUnset } from './common.js';

/** A new secret in plain text with its stored record. The API returns the text only once. */
export interface IssuedSecret {
  readonly record: WebhookSecretRecord;
  /** `whsec_…` */
  readonly secret: string;
}

const secretJson = (
  { _id, hint, createdAt, expiresAt }: WebhookSecretRecord,
  issued?: IssuedSecret,
): WebhookSecret => ({
  _id,
  hint,
  createdAt: isoTime(createdAt),
  ...(expiresAt !== null && { expiresAt: isoTime(expiresAt) }),
  ...(issued?.record._id === _id && { secret: issued.secret }),
});

/** Returns a webhook as the API shows it. Of its secrets only `issued`, the new one, is shown in plain text. */
export const webhookJson = (record: WebhookRecord, issued?: IssuedSecret): Webhook => ({
  _id: record._id,
  live: record.environment === 'live',
  createdAt: isoTime(record.createdAt),
  updatedAt: isoTime(record.updatedAt),
  url: record.url,
  ...withoutUnset({ description: record.description, types: record.types, tags: record.tags }),
  delivery: record.delivery,
  enabled: record.enabled,
  ...(record.disabled && { disabled: { reason: record.disabled.reason, at: isoTime(record.disabled.at) } }),
  secrets: record.secrets.map((secret) => secretJson(secret, issued)),
});

/** Returns a pending delivery without its body. Times are epoch ms. */
export const waitingDeliveryJson = ({
  delivery,
  attempts,
  dueAtMs,
}: {
  readonly delivery: Pick<Delivery, 'id' | 'events' | 'reason' | 'createdAt'>;
  readonly attempts: number;
  readonly dueAtMs: number;
}): WaitingDelivery => ({
  _id: delivery.id,
  events: delivery.events,
  reason: delivery.reason,
  createdAt: isoTime(delivery.createdAt),
  attempts,
  nextAttemptAt: isoTime(dueAtMs),
});

/** The parts of an attempt's JSON. */
export type AttemptParts = Omit<Attempt, 'delivery'> & {
  readonly delivery: Pick<Delivery, 'id' | 'events' | 'reason' | 'body'>;
};

/** Returns an attempt as the API shows it. Bytes of bodies that are not UTF-8 are replaced. */
export const attemptJson = ({
  delivery,
  status,
  responseHeaders,
  responseBody,
  ...attempt
}: AttemptParts): AttemptJson => ({
  _id: attempt.id,
  delivery: delivery.id,
  events: delivery.events,
  attempt: attempt.attempt,
  reason: delivery.reason,
  at: isoTime(attempt.at),
  durationMs: attempt.duration_ms,
  url: attempt.url,
  result: attempt.result,
  ...withoutUnset({ message: attempt.message }),
  state: attempt.state,
  ...(attempt.nextAttemptAt !== null && { nextAttemptAt: isoTime(attempt.nextAttemptAt) }),
  request: { body: delivery.body.toString() },
  ...(status !== null && {
    response: {
      status,
      headers: JSON.parse(responseHeaders ?? '{}') as Record<string, string>,
      body: responseBody?.toString() ?? '',
    },
  }),
});
