/** JSON Schemas of webhooks: the stored endpoint, the API's representation, and delivery attempts. */
import Type, { type Static } from 'typebox';
import { Environment, Id, Timestamp } from './common.js';

/**
 * A stored signing secret. Signing needs the secret itself, so it is encrypted with the installation's encryption key
 * instead of hashed. A secret that is being replaced still signs until `expiresAt` (epoch ms).
 */
export const WebhookSecretRecord = Type.Object({
  _id: Id,
  sealed: Type.String({ description: 'Encrypted for the _id of the webhook, see pipeline/encryption.ts' }),
  hint: Type.String({ description: 'Prefix and last four characters, to distinguish secrets' }),
  createdAt: Type.Integer(),
  expiresAt: Type.Union([Type.Integer(), Type.Null()]),
});
export type WebhookSecretRecord = Static<typeof WebhookSecretRecord>;

/** Most secrets that sign deliveries at one time. */
export const maxWebhookSecrets = 5;
/** Most types of events that a webhook names. */
export const maxWebhookTypes = 100;
/** Most tags that a webhook names. */
export const maxWebhookTags = 1_000;

/** single: one event per request. grouped: the events of one location together, at most `maxGroupedEvents`. */
const WebhookDelivery = Type.Enum(['single', 'grouped']);

/** owner: disabled by the API. gone: the endpoint returned 410. failing: all attempts failed for five days. */
export const WebhookDisabledReason = Type.Enum(['owner', 'gone', 'failing']);
export type WebhookDisabledReason = Static<typeof WebhookDisabledReason>;

/** A webhook as topic `changes` and the read model store it. Times are epoch ms; `null` means not set. */
export const WebhookRecord = Type.Object(
  {
    _id: Id,
    project: Id,
    environment: Environment,
    createdAt: Type.Integer(),
    updatedAt: Type.Integer(),
    url: Type.String(),
    description: Type.Union([Type.String(), Type.Null()]),
    types: Type.Union([Type.Array(Type.String()), Type.Null()], { description: 'Event types; null: all' }),
    tags: Type.Union([Type.Array(Type.String()), Type.Null()], {
      description: 'Tags of the geofence or beacon; null: any or none',
    }),
    delivery: WebhookDelivery,
    enabled: Type.Boolean(),
    disabled: Type.Union([Type.Object({ reason: WebhookDisabledReason, at: Type.Integer() }), Type.Null()]),
    secrets: Type.Array(WebhookSecretRecord, { minItems: 1, maxItems: maxWebhookSecrets }),
  },
  { additionalProperties: false },
);
export type WebhookRecord = Static<typeof WebhookRecord>;

/** A signing secret as the API returns it. */
export const WebhookSecret = Type.Object({
  _id: Id,
  hint: Type.String(),
  createdAt: Timestamp,
  expiresAt: Type.Optional(Timestamp),
  secret: Type.Optional(
    Type.String({ description: 'The secret itself (`whsec_…`), returned only when it is created' }),
  ),
});
export type WebhookSecret = Static<typeof WebhookSecret>;

/** A webhook as the API returns it. Fields that are not set are absent. */
export const Webhook = Type.Object(
  {
    _id: Id,
    live: Type.Boolean(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    url: Type.String(),
    description: Type.Optional(Type.String()),
    types: Type.Optional(Type.Array(Type.String())),
    tags: Type.Optional(Type.Array(Type.String())),
    delivery: WebhookDelivery,
    enabled: Type.Boolean(),
    disabled: Type.Optional(Type.Object({ reason: WebhookDisabledReason, at: Timestamp })),
    secrets: Type.Array(WebhookSecret),
  },
  { $id: 'Webhook', description: 'An HTTP endpoint that receives events' },
);
export type Webhook = Static<typeof Webhook>;

/** The results of an attempt. Stable: clients filter by them. */
export const attemptResults = {
  delivered: 'The endpoint returned 2xx.',
  refused: 'The endpoint returned another status; see `response`.',
  redirected: 'The endpoint returned 3xx; redirects are not followed.',
  gone: 'The endpoint returned 410; the webhook was disabled.',
  address_refused:
    'The address is private, loopback or otherwise reserved, and the operator has not allowed its network.',
  name_not_found: 'The host name could not be resolved.',
  connection_failed: 'The connection failed, or it broke before a response.',
  tls_failed: 'The certificate is invalid, or the TLS handshake failed.',
  timed_out: 'The endpoint did not respond within the time limit.',
  invalid_answer: 'The response is not HTTP, or its headers are too large.',
  secret_unreadable: 'No request was sent: the signing secrets were encrypted with a different encryption key.',
  expired: 'No request was sent: the delivery waited longer than deliveries are kept, as for a disabled webhook.',
} as const;
/** Codes of what an attempt to deliver met. */
export type AttemptResult = keyof typeof attemptResults;

/**
 * delivered: done. retrying: the next attempt is at `nextAttemptAt`. given_up: no automatic attempt follows.
 */
export const AttemptState = Type.Enum(['delivered', 'retrying', 'given_up']);
export type AttemptState = Static<typeof AttemptState>;

/** An attempt to deliver, as the API returns it. */
export const Attempt = Type.Object(
  {
    _id: Id,
    delivery: Type.String({ description: '`webhook-id` of the request, the same on every attempt' }),
    events: Type.Array(Id),
    attempt: Type.Integer({ description: 'Number of the attempt, from 1' }),
    reason: Type.Enum(['event', 'redelivery', 'test']),
    at: Timestamp,
    durationMs: Type.Number(),
    url: Type.String(),
    result: Type.Enum(Object.keys(attemptResults) as AttemptResult[]),
    message: Type.Optional(Type.String({ description: 'The failure, if the endpoint did not respond' })),
    state: AttemptState,
    nextAttemptAt: Type.Optional(Timestamp),
    request: Type.Object({ body: Type.String() }),
    response: Type.Optional(
      Type.Object({
        status: Type.Integer(),
        headers: Type.Record(Type.String(), Type.String()),
        body: Type.String({ description: 'The first bytes of the response body' }),
      }),
    ),
  },
  { $id: 'Attempt', description: 'An attempt to deliver events to a webhook' },
);
export type Attempt = Static<typeof Attempt>;

/** A pending delivery, as the API returns it. */
export const WaitingDelivery = Type.Object(
  {
    _id: Type.String({ description: '`webhook-id` of the request' }),
    events: Type.Array(Id),
    reason: Type.Enum(['event', 'redelivery', 'test']),
    createdAt: Timestamp,
    attempts: Type.Integer({ description: 'Attempts so far; 0 before the first' }),
    nextAttemptAt: Type.String({
      format: 'date-time',
      description: 'When the next attempt is due; later while the webhook is disabled or failing',
    }),
  },
  { $id: 'WaitingDelivery', description: 'A pending delivery to a webhook' },
);
export type WaitingDelivery = Static<typeof WaitingDelivery>;
